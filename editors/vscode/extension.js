// Starts `ddlog lsp`, and connects the editor with it.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function start() {
  const settings = vscode.workspace.getConfiguration("ddlog");
  const command = settings.get("command");
  const args = ["lsp", ...settings.get("libraries").flatMap((folder) => ["-L", folder])];
  client = new LanguageClient("ddlog", "DDlog", { command, args }, {
    documentSelector: [
      { scheme: "file", language: "ddlog" },
      { scheme: "file", pattern: "**/*.dat" },
    ],
  });
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    vscode.window.showErrorMessage(
      `\`${command} lsp\` does not start: ${error.message}. ` +
        "Install it by pip install 'ddlog[lsp]', or set ddlog.command."
    );
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function restart() {
  await stop();
  await start();
}

// Runs a command of ddlog as a task, whose terminal stays when it ends.
function inTerminal(...args) {
  const command = vscode.workspace.getConfiguration("ddlog").get("command");
  const execution = new vscode.ProcessExecution(command, args);
  const task = new vscode.Task({ type: "ddlog" }, vscode.TaskScope.Workspace, args[0], "ddlog", execution);
  vscode.tasks.executeTask(task);
}

function run(file) {
  inTerminal("run", file);
}

async function explain(file, relation) {
  const row = await vscode.window.showInputBox({
    prompt: `A row of ${relation}; a variable or _ stands for any value`,
    value: `${relation}()`,
    valueSelection: [relation.length + 1, relation.length + 1],
  });
  if (row !== undefined) inTerminal("explain", file, row);
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("ddlog.run", run),
    vscode.commands.registerCommand("ddlog.explain", explain),
    vscode.commands.registerCommand("ddlog.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("ddlog") && restart())
  );
  await start();
}

module.exports = { activate, deactivate: stop };
