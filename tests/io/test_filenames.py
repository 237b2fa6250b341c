"""Names of relations that become names of files stay in their folder."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.console.cli import main
from ddlog.durability.store import FileStore
from ddlog.errors.diagnostics import DDlogError
from ddlog.io.filenames import file_name, lies_within
from ddlog.spark.state.manifest import FolderSpan, Manifest, RowFiles, StoredFile, unpacked

from ..fuzz.lies import begun_folder

NAMES = st.text(st.sampled_from("./\\%\0\nR2FÉ:") | st.characters(), max_size=8)


@given(NAMES, NAMES)
def test_every_name_is_one_file_of_the_folder(one: str, other: str) -> None:
    assert Path("folder", file_name(one)).parent == Path("folder")
    assert file_name(one).isprintable() and not file_name(one).startswith(".")
    assert (file_name(one) == file_name(other)) == (one == other)


def test_names_of_programs_stay() -> None:
    assert file_name("Edge", ".csv") == "Edge.csv"
    assert file_name("graph::Größe_2", ".csv") == "graph::Größe_2.csv"
    assert file_name("../../evil", ".parquet") == "%2E.%2F..%2Fevil.parquet"


def test_the_export_of_a_state_stays_in_its_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state, home = tmp_path / "s.ddlog", tmp_path / "home"
    with ddlog.compile("input relation R(x: u32)").session(state=state) as session:
        session.insert("R", (1,))
        session.commit()
    store = FileStore.open(state)
    with store.at_once(), store.writing():
        store.change_relation(replace(store.relations[0], name="../../evil\x1b"))
    store.close()
    home.mkdir()
    assert main(["state", str(state), "--export", str(home / "out")]) == 0
    assert [each.name for each in (home / "out").iterdir()] == ["%2E.%2F..%2Fevil%1B.parquet"]
    assert not [each for each in tmp_path.rglob("*evil*") if each.parent != home / "out"]
    assert main(["state", str(state)]) == 0
    told = capsys.readouterr().out
    assert "../../evil\\u{1b}" in told and "\x1b" not in told


@pytest.mark.parametrize("end", ["-lock", "-wal", "-shm", "-journal"])
def test_a_state_writes_to_no_file_that_a_link_beside_it_leads_to(tmp_path: Path, end: str) -> None:
    state, other = tmp_path / "s", tmp_path / "other"
    program = ddlog.compile("input relation R(x: u32)")
    program.session(state=state).close()
    for each in tmp_path.glob("s-*"):
        each.unlink()
    other.write_text("mine")
    Path(f"{state}{end}").symlink_to(other)
    with pytest.raises(DDlogError, match=f"s{end}: the state cannot be used: it is a link"):
        program.session(state=state)
    assert other.read_text() == "mine"


@pytest.mark.parametrize("folder", ["data", "log"])
def test_a_state_in_a_folder_deletes_nothing_that_a_link_in_it_leads_to(tmp_path: Path, folder: str) -> None:
    state, other = tmp_path / "state", tmp_path / "other"
    begun_folder(state)
    (state / folder).rename(tmp_path / "moved")
    shutil.copytree(tmp_path / "moved", other)
    (other / "mine").mkdir()
    (other / "mine" / "text").write_text("mine")
    held_there = sorted(other.rglob("*"))
    (state / folder).symlink_to(other)
    assert main(["state", str(state), "--compact"]) == 1
    assert sorted(other.rglob("*")) == held_there


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "data/../../x", ""])
def test_a_state_in_a_folder_names_no_file_outside(name: str) -> None:
    inside = StoredFile("data/1.parquet", 1, 1)
    part = RowFiles(1, 1, 1, (replace(inside, name=name),))
    for wrong in (Manifest(past=part.files[0]), Manifest(spans=(FolderSpan(1, 1, "epochs", (part,)),))):
        with pytest.raises(DDlogError, match=r"log/1\.json is not what was written"):
            unpacked("root", "log/1.json", wrong.packed())
    assert unpacked("root", "log/1.json", Manifest(past=inside).packed()).past == inside
    assert not lies_within(name)
