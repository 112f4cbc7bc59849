"""What is remembered of a file, and when it is read again."""

from __future__ import annotations

from hindbrain.generic._seen import Seen


class File:
    """A file that is replaced, and that may not be looked at or read."""

    def __init__(self) -> None:
        self.content, self.mark, self.reads, self.readable = "a", 1, 0, True

    def look(self) -> int:
        if not self.mark:
            raise PermissionError
        return self.mark

    async def read(self) -> str:
        self.reads += 1
        return self.content if self.readable else "closed"

    def replace(self, content: str) -> None:
        self.content, self.mark = content, self.mark + 1


def seen(file: File) -> Seen[str]:
    return Seen(file.look, file.read, lambda found: found != "closed")


async def test_a_file_is_read_again_only_where_it_has_changed() -> None:
    file = File()
    content = seen(file)
    assert [await content.now() for _ in range(3)] == ["a", "a", "a"]
    assert file.reads == 1
    file.replace("b")
    assert (await content.now(), file.reads) == ("b", 2)


async def test_a_file_that_could_not_be_read_is_tried_again() -> None:
    file = File()
    content = seen(file)
    file.readable = False
    assert await content.now() == "closed"
    file.readable = True
    assert await content.now() == "a"


async def test_a_file_that_cannot_be_looked_at_is_read_each_time() -> None:
    file = File()
    content = seen(file)
    await content.now()
    file.mark = 0
    assert [await content.now(), await content.now()] == ["a", "a"]
    assert file.reads == 3


async def test_what_changes_while_it_is_read_is_read_again() -> None:
    file = File()

    async def read() -> str:
        found = await file.read()
        if file.reads == 1:
            file.replace("b")
        return found

    content = Seen(file.look, read, lambda _: True)
    assert [await content.now(), await content.now()] == ["a", "b"]
