"""Lines of C++ with their numbers, highlighted in a notebook and plain in a terminal."""

from __future__ import annotations

import html
from dataclasses import dataclass

# Token colours are pairs for light and dark pages, each at least 4.5:1 on its background.
STYLE = """<style>
.gl-code{--bg:#f6f8fa;--fg:#1f2328;--no:#5c6570;--k:#a0111f;--c:#57606a;--m:#0550ae;--s:#0a3069;
--f:#6639ba;--add:#dafbe1;--del:#ffebe9;--addm:#116329;--delm:#a0111f;margin:.5rem 0}
html[data-theme=dark] .gl-code,[data-jp-theme-light=false] .gl-code{--bg:#161b22;--fg:#e6edf3;
--no:#98a2ad;--k:#ff7b72;--c:#98a2ad;--m:#79c0ff;--s:#a5d6ff;--f:#d2a8ff;--add:#12361f;--del:#4a1a1d;
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


def highlight(lines: list[str]) -> list[str]:
    """C++ lines as HTML with pygments' short class names; one string for each line given."""
    from pygments import highlight as pygmentize
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import CppLexer

    lexer = CppLexer(stripnl=False, ensurenl=True)
    text: str = pygmentize("\n".join(lines), lexer, HtmlFormatter(nowrap=True))
    return text.split("\n")[: len(lines)]


def _gutter(line: Line) -> str:
    return f"{line.mark.strip()}{line.number}"
