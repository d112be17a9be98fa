"""A PostgreSQL server of the tests' own, in a temporary folder, that only this machine's sockets reach."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.resources import postgres_programs

SETTINGS = ("fsync = off", "full_page_writes = off", "listen_addresses = ''", "lc_messages = 'C'")
RULES = "local all guarded scram-sha-256\nlocal all all trust\n"


@dataclass(frozen=True)
class Server:
    """A running server.

    Attributes
    ----------
    folder: with its data and its socket.
    """

    folder: Path

    def url(self, user: str = "tester", database: str = "postgres") -> str:
        """Return the URL of a database."""
        return f"postgresql://{user}@/{database}?host={self.folder}"

    @property
    def source(self) -> dict[str, str]:
        """The input of a config: the records."""
        return {"url": self.url(), "table": "people"}

    def target(self, table: str = "released", **options: str) -> dict[str, str]:
        """Return the output of a config."""
        return {"url": self.url(), "table": table, **options}

    def run(self, *statements: str, user: str = "tester") -> list[tuple[Any, ...]]:
        """Execute statements by a connection of their own, and return the rows of the last."""
        from adbc_driver_postgresql import dbapi

        with closing(dbapi.connect(self.url(user))) as connection, closing(connection.cursor()) as cursor:
            for statement in statements:
                cursor.execute(statement)
            rows: list[tuple[Any, ...]] = cursor.fetchall() if cursor.description else []
            connection.commit()
            return rows


@contextmanager
def running() -> Iterator[Server]:
    """Start a server, and stop it."""
    bin_ = postgres_programs()
    assert bin_ is not None, "a test that starts the server carries the mark postgres"
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    # The server refuses to run as root.
    as_user: dict[str, Any] = {}
    if os.geteuid() == 0:
        owner = pwd.getpwnam("postgres")
        os.chown(folder, owner.pw_uid, owner.pw_gid)
        as_user = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}

    def call(*command: str | Path) -> None:
        subprocess.run(
            [str(each) for each in command],
            check=True,
            timeout=60,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **as_user,
        )

    data = folder / "data"
    try:
        call(bin_ / "initdb", "-D", data, "-U", "tester", "--auth=trust", "-E", "UTF8", "--locale=C", "-N")
        with (data / "postgresql.conf").open("a") as stream:
            stream.write(
                "".join(f"{each}\n" for each in (*SETTINGS, f"unix_socket_directories = '{folder}'"))
            )
        (data / "pg_hba.conf").write_text(RULES)
        call(bin_ / "pg_ctl", "-D", data, "-w", "-l", folder / "log", "start")
        try:
            yield Server(folder)
        finally:
            call(bin_ / "pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
