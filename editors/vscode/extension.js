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

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("ddlog.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("ddlog") && restart())
  );
  await start();
}

module.exports = { activate, deactivate: stop };
