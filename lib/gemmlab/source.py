"""Show a step's own source: a marked passage, or what changed from its parent."""

from __future__ import annotations

import difflib
import html
import re
from dataclasses import dataclass
from pathlib import Path

from . import registry
from .errors import ArgumentError
from .run import Kernel, kernel

_ANCHOR = re.compile(r"^\s*// \[(/?)(\w+)\]\s*$")

# Token colours are pairs for light and dark pages, each at least 4.5:1 on its background.
STYLE = """<style>
.gl-code{--bg:#f6f8fa;--fg:#1f2328;--no:#6e7781;--k:#a0111f;--c:#57606a;--m:#0550ae;--s:#0a3069;
--f:#6639ba;--add:#dafbe1;--del:#ffebe9;--addm:#116329;--delm:#a0111f;margin:.5rem 0}
html[data-theme=dark] .gl-code,[data-jp-theme-light=false] .gl-code{--bg:#161b22;--fg:#e6edf3;
--no:#8b949e;--k:#ff7b72;--c:#8b949e;--m:#79c0ff;--s:#a5d6ff;--f:#d2a8ff;--add:#12361f;--del:#4a1a1d;
--addm:#56d364;--delm:#ff7b72}
.gl-code .gl-file{font-size:.8rem;color:var(--no);margin-bottom:.2rem}
.gl-code pre{background:var(--bg)!important;color:var(--fg);border:1px solid #8b949e55;
border-radius:6px;padding:.6rem 0;margin:0;overflow-x:auto;font-size:.82rem;line-height:1.5}
.gl-code code{background:none;color:inherit;padding:0;font-size:inherit}
.gl-code .l{display:block;padding:0 .8rem;width:max-content;min-width:100%;box-sizing:border-box}
.gl-code .no{display:inline-block;width:2.5em;margin-right:1em;text-align:right;color:var(--no);
user-select:none}
.gl-code .add{background:var(--add)}.gl-code .del{background:var(--del)}
.gl-code .add .no{color:var(--addm)}.gl-code .del .no{color:var(--delm)}
.gl-code .k,.gl-code .kt,.gl-code .kr,.gl-code .cp{color:var(--k)}
.gl-code .c1,.gl-code .cm,.gl-code .cpf{color:var(--c)}
.gl-code .mi,.gl-code .mf,.gl-code .mh{color:var(--m)}.gl-code .s{color:var(--s)}
.gl-code .nf,.gl-code .nb{color:var(--f)}
</style>"""


@dataclass(frozen=True)
class Line:
    """One shown line: its number in the file, its text, and "+", "-" or " "."""

    number: int
    text: str
    mark: str = " "


@dataclass(frozen=True)
class Listing:
    """Lines of a kernel file, highlighted in a notebook and plain in a terminal."""

    title: str
    lines: tuple[Line, ...]

    def __repr__(self) -> str:
        body = (f"{line.mark}{line.number:4d}  {line.text}".rstrip() for line in self.lines)
        return "\n".join((self.title, *body))

    def _repr_html_(self) -> str:
        rows = zip(self.lines, highlight([line.text for line in self.lines]), strict=True)
        names = {"+": "l add", "-": "l del", " ": "l"}
        body = "".join(
            f'<span class="{names[line.mark]}">'
            f'<span class="no">{_gutter(line)}</span>{code}\n</span>'
            for line, code in rows
        )
        return (
            f'{STYLE}<div class="gl-code"><div class="gl-file">{html.escape(self.title)}</div>'
            f'<pre tabindex="0"><code>{body}</code></pre></div>'
        )


def source(name: str | Kernel, passage: str | None = None) -> Listing:
    """A passage of a step's file, between its `// [passage]` marks, or the whole file.

    name: a step, or a header in kernels/, such as "probes/mma.cuh".
    Raises ArgumentError, naming the passages there are, for one that is not there.
    """
    path, shown_as = _file(name)
    lines = path.read_text().splitlines()
    known = passages_of(lines)
    if passage is not None and passage not in known:
        raise ArgumentError(
            f"passage: {passage!r} is not in {shown_as}; it has {', '.join(known) or 'none'}"
        )
    start, stop = known[passage] if passage else (0, len(lines))
    shown = [
        Line(i + 1, lines[i]) for i in range(start, stop) if passage is None or not _mark(lines[i])
    ]
    return Listing(shown_as, tuple(_dedent(shown)))


def _file(name: str | Kernel) -> tuple[Path, str]:
    """The file of a step, or a header, and what to call it."""
    if isinstance(name, str) and name.endswith(".cuh"):
        folder = registry.repository_root() / "kernels"
        if name not in {path.relative_to(folder).as_posix() for path in folder.rglob("*.cuh")}:
            raise ArgumentError(f"name: there is no kernels/{name}")
        return folder / name, f"kernels/{name}"
    spec = kernel(name).spec
    written = f"{spec.label}, written in this notebook"
    return spec.path, written if spec.untrusted else f"kernels/{spec.file}"


def diff(name: str | Kernel, other: str | Kernel | None = None, context: int = 1) -> Listing:
    """What changed from `other` (the parent step, if not given), without comments at the top.

    Lines that differ only by the step's own name count as equal.
    Raises ArgumentError for a step without a parent.
    """
    spec = kernel(name).spec
    if other is None and spec.parent is None:
        why = "was written without --like" if spec.untrusted else "is the first step"
        raise ArgumentError(
            f"name: {spec.name} {why}, so it has no parent to compare; name one: "
            f"lab.diff(..., 'sgemm_02_coalesced')"
        )
    parent = kernel(other or spec.parent).spec
    ours, theirs = _body(spec), _body(parent, spec.entry or spec.name)
    # Lines that stand everywhere would be matched across unrelated passages.
    matcher = difflib.SequenceMatcher(
        lambda text: text.strip() in ("", "}", "#pragma unroll"),
        [line.text for line in theirs],
        [line.text for line in ours],
        autojunk=False,
    )
    shown: list[Line] = []
    for group in matcher.get_grouped_opcodes(context):
        for tag, a0, a1, b0, b1 in group:
            if tag == "equal":
                shown += ours[b0:b1]
                continue
            shown += [Line(line.number, line.text, "-") for line in theirs[a0:a1]]
            shown += [Line(line.number, line.text, "+") for line in ours[b0:b1]]
    changed = spec.label or f"a variant of {parent.name}" if spec.written_to else spec.file
    source_of = parent.label if parent.untrusted else f"kernels/{parent.file}"
    return Listing(f"{source_of} -> {changed}", tuple(shown))


def highlight(lines: list[str]) -> list[str]:
    """C++ lines as HTML with pygments' short class names; one string for each line given."""
    from pygments import highlight as pygmentize
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import CppLexer

    lexer = CppLexer(stripnl=False, ensurenl=True)
    text = pygmentize("\n".join(lines), lexer, HtmlFormatter(nowrap=True))
    return text.split("\n")[: len(lines)]


def _gutter(line: Line) -> str:
    return f"{line.mark.strip()}{line.number}"


def _mark(text: str) -> re.Match | None:
    return _ANCHOR.match(text)


def passages_of(lines: list[str]) -> dict[str, tuple[int, int]]:
    """Passage name -> first and past-the-last line index, marks left out."""
    opened: dict[str, int] = {}
    found: dict[str, tuple[int, int]] = {}
    for i, line in enumerate(lines):
        if not (match := _mark(line)):
            continue
        closing, name = match.groups()
        if closing:
            found[name] = (opened.pop(name, i), i)
        else:
            opened[name] = i + 1
    return found


def _dedent(lines: list[Line]) -> list[Line]:
    # A preprocessor line stands at the margin whatever its surroundings.
    indents = [
        len(line.text) - len(line.text.lstrip())
        for line in lines
        if line.text.strip() and not line.text.startswith("#")
    ]
    cut = min(indents, default=0)
    return [
        line if line.text.startswith("#") else Line(line.number, line.text[cut:], line.mark)
        for line in lines
    ]


def _body(spec: registry.KernelSpec, rename_to: str | None = None) -> list[Line]:
    """The file from its first #include on, without passage marks, perhaps under another name."""
    lines, own = spec.path.read_text().splitlines(), spec.entry or spec.name
    first = next((i for i, line in enumerate(lines) if line.startswith("#include")), 0)
    return [
        Line(i + 1, line.replace(own, rename_to or own))
        for i, line in enumerate(lines)
        if i >= first and not _mark(line)
    ]
