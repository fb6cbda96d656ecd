"""What annotators see is what they judge: every literal of hostile texts, in a real browser."""

import random
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenPage, forget
from tests.e2e.workshop import Workshop
from tests.processes import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

PARSER = MarkdownIt("commonmark")
# Else it takes links that could run something for plain text.
PARSER.validateLink = lambda _: True  # type: ignore[method-assign]
LETTERS = "abcdefghi"
# Whole comparisons of nine, so that the last one has as many cards as the others.
TEXTS = 23 * len(LETTERS)
# The longest response that a project takes, in characters.
LONGEST = 200_000
PIECES = (
    "word", "Ünïcode", "漢字", "שלום", "*", "**", "_", "`", "``", "\n", "\n\n", "\n> ", "\n- ",
    "\n1. ", "\n# ", "\n    ", "\n```\n", "\n```js\n", "\n---\n", "<answer>", "</answer>",
    "<div>\n", "<!-- x -->", "<br/>", "List<String>", "a < b", "&amp;", "&lt;",
    "[a](http://b.test)",
    "![i](p.png)", "<http://auto.test>", "\\", "\\*", "[", "]", "(", ")", "!", ":", "\u200b",
    "\u202e", " ", "  \n", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>",
    "<style>*{display:none}</style>", "[j](javascript:alert(1))", "<think>", "🙂", "$5 and $10",
    # With spaces: beside a star a dollar is punctuation, and a formula is none.
    " $x^2$ ", " $\\alpha + 1$ ", "\n\n$$\n\\sum x_i\n$$\n\n",
)  # fmt: skip
# In the place of each formula that is typeset the source that its title has.
WRITTEN = """(bodies) => bodies.map((body) => {
  for (const one of body.querySelectorAll(".formula:has(.katex)"))
    one.firstElementChild.replaceChildren(one.title);
  return body.innerText;
})"""


def texts() -> list[str]:
    draw = random.Random(12)
    # The first word says on the page which text it is.
    return [
        f"Q{number}Q " + "".join(draw.choices(PIECES, k=draw.randint(1, 60)))[:1900]
        for number in range(TEXTS)
    ]


def literals(tokens: list[Token]) -> Iterator[str]:
    """What the other parser finds, in order; of a link its text and where it leads."""
    targets: list[str] = []
    for token in tokens:
        target = str(token.attrs.get("href") or token.attrs.get("src") or "")
        if token.type == "link_open":
            targets.append("" if token.info == "auto" else target)
        if token.type == "link_close":
            yield targets.pop()
        elif token.type == "image":
            yield from (token.content, target)
        elif token.children is not None:
            yield from literals(token.children)
        elif token.type != "inline":
            yield from (token.info if token.type == "fence" else "", token.content)


def bare(text: str, bounds: str) -> str:
    """Without spaces and bounds of formulas; hidden characters by the names that stand for them."""
    named = text.replace("\u200b", "ZWSP").replace("\u202e", "RLO")
    return re.sub(rf"[\s{re.escape(bounds)}]+", "", unquote(named))


def missing(text: str, card: str) -> str | None:
    """The first literal that does not stand on the card behind those before it."""
    bounds = "$()[]" if re.search(r"\\[(\[]", text) else "$"
    shown, at = bare(card, bounds), 0
    for literal in (bare(one, bounds) for one in literals(PARSER.parse(text))):
        found = shown.find(literal, at)
        if found < 0:
            return f"{literal!r} is not in {shown[at:]!r}"
        at = found + len(literal)
    return None


def open_folds(page: Page) -> int:
    """Open what is folded on the cards as soon as they are there; how much that is."""
    expect(page.locator("article.resp").first).to_be_visible()
    folds = page.locator("article.resp .body details")
    folds.evaluate_all("folds => { for (const one of folds) one.open = true }")
    return folds.count()


def test_two_hundred_texts_stand_on_their_cards_and_nothing_runs(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project, left = workshop.new_project("Texts"), texts()
    rows = [
        {"prompt": f"**Prompt** {at} <b>", "responses": left[at : at + len(LETTERS)]}
        for at in range(0, TEXTS, len(LETTERS))
    ]
    workshop.take_in(project, "comparisons", rows)
    by_word = {text.split()[0]: text for text in left}
    assert len(by_word) == TEXTS >= 200
    page = open_page(f"/projects/{project}/rank")
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))

    wrong, formulas = [], 0
    while by_word:
        cards = page.locator("article.resp")
        open_folds(page)
        formulas += cards.locator(".formula .katex-html").count()
        shown = cards.locator(".body").evaluate_all(WRITTEN)
        for card in shown:
            word = re.search(r"Q\d+Q", card)
            text = by_word.pop(word.group(), None) if word else None
            if text is not None and (problem := missing(text, card)):
                wrong.append((text, problem))
        page.keyboard.type(LETTERS[: len(shown)])
        first = cards.first.locator(".body").inner_text()
        page.keyboard.press("Enter")
        if by_word:
            expect(cards.first.locator(".body")).not_to_have_text(first, use_inner_text=True)

    assert wrong == []
    assert formulas > TEXTS / 4
    assert page.locator("article script, article iframe, article style").count() == 0


def test_the_longest_responses_are_whole(workshop: Workshop, open_page: OpenPage) -> None:
    project = workshop.new_project("Long")
    # The last is nothing but hidden characters, which one mark shows.
    kinds = ["<b>*x* ", "| a ", "$x$ ", "- [a](b)\n", "漢字`\n", "\u200b"]
    responses = [(one * LONGEST)[: LONGEST - 3] + f"end{n}"[-3:] for n, one in enumerate(kinds)]
    workshop.take_in(project, "comparisons", [{"prompt": "p", "responses": responses}])
    page = open_page(f"/projects/{project}/rank")
    expect(page.locator("article.resp")).to_have_count(len(kinds))
    for body in page.locator("article.resp .body").all():
        expect(body).to_contain_text("characters, shown as they were written")
    shown = page.locator("article.resp .plain").all_text_contents()
    mark = f"ZWSP × {LONGEST - 3}nd5"
    assert set(shown) == {*responses[:-1], mark}


CHINESE = "这是一句很长的话，没有空格。"
# As much as an import takes in one line.
SCRIPTS = [
    (CHINESE * LONGEST)[: LONGEST - 2] + "末尾",
    f"{CHINESE * 20}\n" * 350,
    f"שלום {'word ' * 9000}\nEnd",
    "هذه جملة طويلة جدا " * 5000,
    "👩\u200d💻👍🏽🙂" * 8000,
]
LAID_OUT = "(pieces) => pieces.map((one) => one.innerText !== '')"
# The end of a text is within what its card shows.
HAS_END_IN_SIGHT = """(body) => {
  const [last] = [...body.querySelectorAll(".piece")].slice(-1);
  const end = document.createRange();
  end.selectNodeContents(last);
  const lines = [...end.getClientRects()], room = body.getBoundingClientRect();
  const line = lines[lines.length - 1];
  return line !== undefined && line.top >= room.top && line.bottom <= room.bottom;
}"""
COPIED = """() => new Promise((done) => addEventListener("copy", ({ clipboardData }) =>
  done(clipboardData.getData("text/plain")), { once: true }))"""


def test_a_long_text_is_laid_out_where_it_is_read_and_is_there_everywhere(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Scripts")
    workshop.take_in(project, "comparisons", [{"prompt": "p", "responses": SCRIPTS}])
    page = open_page(f"/projects/{project}/rank")
    expect(page.locator("article .pieces")).to_have_count(len(SCRIPTS))
    assert sorted(page.locator("article .plain").all_text_contents()) == sorted(SCRIPTS)
    # A page that laid out all of them would stand still for seconds.
    laid_out = page.locator("article .piece").evaluate_all(LAID_OUT)
    assert len(SCRIPTS) <= sum(laid_out) < len(laid_out) / 3

    # A line that is cut says that it goes on, in the direction of its beginning.
    part = page.locator(".cut-line", has_text="שלום").locator(".piece").last
    expect(part).to_have_css("direction", "rtl")
    mark = part.evaluate("(one) => getComputedStyle(one, '::before').content")
    assert mark.startswith('"same line"')

    card = page.locator("article.resp", has_text="末尾")
    body = card.locator(".body")
    body.press("End")
    wait_until(lambda: bool(body.evaluate(HAS_END_IN_SIGHT)), "the end is in sight")
    body.press("Home")
    page.wait_for_function("(one) => one.scrollTop === 0", arg=body.element_handle())
    # Whoever looks for words finds them also where nothing was laid out yet.
    assert page.evaluate("window.find('末尾') && getSelection().toString()") == "末尾"

    # What is copied has no line that was not written.
    pieces = card.locator(".pieces")
    pieces.evaluate("(one) => getSelection().selectAllChildren(one)")
    page.evaluate(f"window.copied = ({COPIED})(); 0")
    page.keyboard.press("Control+c")
    assert page.evaluate("window.copied") == SCRIPTS[0]

    page.keyboard.press("r")
    expect(page.locator("article .raw .pieces")).to_have_count(len(SCRIPTS))
    assert sorted(page.locator("article .raw").all_text_contents()) == sorted(SCRIPTS)


def test_what_differs_between_long_texts_is_laid_out_where_it_is_read(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project, line = workshop.new_project("Differences"), f"{CHINESE * 20}\n"
    responses = [line * 400 + "first", line * 200 + "other" + line * 200 + "second"]
    workshop.take_in(project, "comparisons", [{"prompt": "p", "responses": responses}])
    page = open_page(f"/projects/{project}/rank")
    expect(page.locator("article .pieces")).to_have_count(2)
    page.keyboard.press("v")
    sides = page.locator(".diff .plain")
    expect(sides.locator(".pieces")).to_have_count(2)

    assert sorted(sides.all_text_contents()) == sorted(responses)
    assert sorted(sides.locator("mark").all_text_contents()) == ["first", "other", "second"]
    laid_out = sides.locator(".piece").evaluate_all(LAID_OUT)
    assert 2 <= sum(laid_out) < len(laid_out) / 3


AT_A_CUT = """([before, piece]) =>
  before.textContent.trim().split(" ").at(-1) + " " + piece.textContent.trim().split(" ")[0]"""
# A link to some words: the browser looks for them as it does for what somebody types.
LINK = """(words) => {
  document.querySelector("#to-words")?.remove();
  const link = document.createElement("a");
  link.id = "to-words";
  link.textContent = "To the words";
  link.href = `#:~:text=${encodeURIComponent(words)}`;
  document.querySelector("h1, header").append(link);
}"""


def test_whoever_looks_for_words_finds_them_across_a_cut(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project, line = workshop.new_project("Phrases"), " ".join(map(str, range(10_000, 25_000)))
    workshop.take_in(project, "comparisons", [{"prompt": "p", "responses": [line, "other"]}])
    page = open_page(f"/projects/{project}/rank")
    pieces = page.locator("article .cut-line .piece")
    body = page.locator("article.resp", has=page.locator(".cut-line")).locator(".body")
    expect(pieces.nth(9)).to_be_attached()

    for at in (3, 8):
        words = pieces.evaluate_all(f"(all) => ({AT_A_CUT})(all.slice({at}, {at + 2}))")
        assert line.count(words) == 1
        body.evaluate("(one) => one.scrollTo(0, 0)")
        page.evaluate(LINK, words)
        page.locator("#to-words").click()
        expect(pieces.nth(at + 1)).to_be_in_viewport()
    # Each card has its text once, whatever stands between for the search.
    assert line in page.locator("article .plain").all_text_contents()


def test_formulas_are_typeset_and_code_is_coloured(workshop: Workshop, open_page: OpenPage) -> None:
    project = workshop.new_project("Formulas")
    responses = ["So $\\frac{1}{2}$ of it.\n\n```python\nx = 1\n```", "It costs $5 and $10.\nYes."]
    row = {
        "messages": [
            {"role": "system", "content": "Answer **briefly**."},
            {"role": "user", "content": "How *much* is $1/2$?"},
        ],
        "responses": responses,
    }
    workshop.take_in(project, "comparisons", [row])
    page = open_page(f"/projects/{project}/rank")
    expect(page.locator("article .katex .mfrac")).to_have_count(1)
    expect(page.locator("article .hljs-number")).to_have_text("1")
    expect(page.get_by_text("It costs $5 and $10.")).to_be_visible()
    expect(page.locator(".prompt strong")).to_have_text("briefly")
    expect(page.locator(".prompt em")).to_have_text("much")
    page.keyboard.press("r")
    expect(page.locator("article .raw", has_text="So $\\frac{1}{2}$ of it.")).to_be_visible()
    expect(page.locator(".prompt .raw", has_text="How *much* is $1/2$?")).to_be_visible()


KATEX = Path(__file__).parents[2] / "frontend/node_modules/katex/dist/katex.mjs"
HOSTILE = (
    r"\mathchoice{yes}{no}{}{}", r"\TextOrMath{yes}{no}", r"\@firstoftwo{yes}{no}", "a %no",
    r"\@ifnextchar x{yes}{no}x", r"\message{no}v", r"\def\b{c}a", r"yes\tmspace-{99mu}{9em}no",
    r"yes\negthickspace\negthickspace no", r"\begin{matrix}yes\\[-2em]no\end{matrix}",
    r"yes\\[-2em]no", r"\begin{matrix}yes\cr[-2em]no\end{matrix}", r"\rlap{no}yes",
    r"\char\"202E abc", "x\u202eyz", r"\text{a" + "\u200bb}", r"\phantom{no}", r"\grayA{no}",
    r"\text{" + "wide" * 40 + r"}\tag{no}",
)  # fmt: skip
HONEST = (
    r"\frac{-b \pm \sqrt[3]{b^2-4ac}}{2a}", r"\begin{pmatrix} a & b \\[4pt] c & d \end{pmatrix}",
    r"\underbrace{a+b}_{n} \xrightarrow[f]{g} \overset{h}{k}", r"\sum_{i=1}^{n} \hat{x}_i \tag{1}",
    r"f = \begin{cases} 1 & \text{if } x \\ 0 & \text{else} \end{cases}", r"\cancel{a} \boxed{c}",
)  # fmt: skip
# Of each formula its source, and how it is written or which letters are seen and lie over others.
READ = """(formulas) => formulas.map((formula) => {
  const drawn = formula.querySelector(".katex-html");
  if (drawn === null) return { source: formula.title, written: formula.innerText };
  const texts = document.createTreeWalker(drawn, NodeFilter.SHOW_TEXT), letters = [];
  while (texts.nextNode()) {
    const text = texts.currentNode, style = getComputedStyle(text.parentElement);
    for (const { 0: letter, index } of text.data.matchAll(/(?!\\p{Lm})[\\p{L}\\p{N}]/gu)) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + letter.length);
      const box = range.getBoundingClientRect(), size = parseFloat(style.fontSize);
      const isSeen = style.color === getComputedStyle(formula).color && size > 5 &&
        style.visibility === "visible" && box.width > 0 && style.opacity === "1";
      const x = box.left + box.width / 2, y = box.top + box.height / 2;
      letters.push({ letter, isSeen, x, y, size, width: box.width });
    }
  }
  const isOver = (a, b) => Math.abs(a.x - b.x) < Math.min(a.width, b.width) / 2 &&
    Math.abs(a.y - b.y) < Math.min(a.size, b.size) / 4;
  const over = letters.filter((one, at) => letters.slice(at + 1).some((two) => isOver(one, two)));
  const seen = letters.filter(({ isSeen }) => isSeen).map(({ letter }) => letter).join("");
  return { source: formula.title, seen, over: over.map(({ letter }) => letter).join("") };
})"""


def commands() -> list[str]:
    """What KaTeX calls a command, by the strings of its code; some are none.

    The letters of one logo stand over one another.
    """
    code = KATEX.read_text(encoding="utf-8")
    return sorted(set(re.findall(r'"\\\\([a-zA-Z@]+|[^a-zA-Z\\])"', code)) - {"LaTeX"})


def letters_of(text: str) -> Counter[str]:
    """Letters and digits without accents, as often as each is there."""
    plain = unicodedata.normalize("NFKD", text).replace("ı", "i")
    return Counter(re.findall(r"[^\W_]", plain))


def test_no_formula_hides_a_letter_or_lays_it_over_another(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Maths")
    known = [f"q\\{name}{{w}}{{v}}kz" for name in commands()]
    given = [*HONEST, *HOSTILE, *known]
    at_once = 140
    responses = [
        "\n\n".join(f"$$\n{one}\n$$" for one in given[at : at + at_once])
        for at in range(0, len(given), at_once)
    ]
    assert len(known) > 1000
    workshop.take_in(project, "comparisons", [{"prompt": "p", "responses": responses}])
    page = open_page(f"/projects/{project}/rank")
    expect(page.locator("article.resp .formula")).to_have_count(len(given))
    expect(page.locator("article.resp .katex").first).to_be_visible()

    found = {one["source"]: one for one in page.locator("article.resp .formula").evaluate_all(READ)}
    assert set(found) == set(given)
    assert all("seen" in found[source] for source in HONEST)
    wrong = []
    for source, one in found.items():
        if "written" in one:
            isolated = one["written"].replace("RLO", "\u202e").replace("ZWSP", "\u200b")
            if isolated != source:
                wrong.append(one)
            continue
        bare_source = re.sub(r"\\(begin|end)\{\w+\}|\\([a-zA-Z@]+|.)|\[4pt\]", " ", source)
        if one["over"] or letters_of(bare_source) - letters_of(one["seen"]):
            wrong.append(one)
    assert wrong == []
    # KaTeX gives some drawings a width in a style of their own; the span around them has it, too.
    forget(open_page, "Applying inline style violates")


def test_no_letters_are_joined_in_texts_and_code(workshop: Workshop, open_page: OpenPage) -> None:
    project = workshop.new_project("Ligatures")
    responses = ["An `office` file.\n\n```\na != b\n```", "<think>A flow.</think>An affair."]
    workshop.take_in(project, "comparisons", [{"prompt": "p", "responses": responses}])
    page = open_page(f"/projects/{project}/rank")
    assert open_folds(page) == 1
    for part in ("article .prose", "article .prose p > code", "article pre code", "article .plain"):
        expect(page.locator(part).first).to_have_css("font-variant-ligatures", "none")
    page.keyboard.press("r")
    expect(page.locator("article .raw")).to_have_count(len(responses))
    for raw in page.locator("article .raw").all():
        expect(raw).to_have_css("font-variant-ligatures", "none")


# Where the letters of a text stand, and whether they are nearer to the right edge of its block.
IS_AT_THE_RIGHT = """(block, text) => {
  const letters = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  while (letters.nextNode()) {
    const at = letters.currentNode.data.indexOf(text);
    if (at < 0) continue;
    const range = document.createRange();
    range.setStart(letters.currentNode, at);
    range.setEnd(letters.currentNode, at + text.length);
    const line = range.getBoundingClientRect(), around = block.getBoundingClientRect();
    return around.right - line.right < line.left - around.left;
  }
  throw new Error(`${text} is not there`);
}"""


def test_each_block_and_line_begins_where_its_own_script_does(
    workshop: Workshop, open_page: OpenPage
) -> None:
    project = workshop.new_project("Directions")
    responses = [
        "# שלום!\n\nHello\n\n\u200fעולם",
        "<think>Hello there\nשלום!\n\u200fעולם\nand so on</think>The answer.",
    ]
    workshop.take_in(project, "comparisons", [{"prompt": "p", "responses": responses}])
    page = open_page(f"/projects/{project}/rank")
    assert open_folds(page) == 1

    def is_at_the_right(block: str, text: str) -> bool:
        found = page.locator(f"article {block}", has_text=text).first
        return bool(found.evaluate(IS_AT_THE_RIGHT, text))

    expect(page.locator("article h1")).to_have_css("direction", "rtl")
    shown = [
        is_at_the_right(*one)
        for one in (("h1", "שלום!"), (".prose p", "Hello"), (".prose p", "עולם"))
    ]
    assert shown == [True, False, True]
    lines = ("Hello there", "שלום!", "עולם", "and so on")
    assert [is_at_the_right(".plain", one) for one in lines] == [False, True, True, False]
    page.keyboard.press("r")
    expect(page.locator("article .raw")).to_have_count(len(responses))
    assert [is_at_the_right(".raw", one) for one in lines] == [False, True, True, False]
