"""Draws captions of all kinds, for what has to read or count them."""

from __future__ import annotations

import random

PIECES = (
    "a photo of mira_x standing in the rain",
    "1girl, solo, long hair, looking at viewer, (masterpiece:1.2), best quality",
    "score_9, score_8_up, source_anime",
    "it's, she'll, they've, I'm, we're, can't, he'd, IT'S 'RE",
    "<|startoftext|> <|endoftext|> <|ENDOFTEXT|>",
    "!!! ?!? ... --- *** !mira!",
    "🙂👩‍👩‍👧‍👦🏳️‍🌈🇰🇷 ✨⭐️",
    "비 오는 거리에 서 있는 미라, 검은 머리",
    "雨の中に立つ少女、ｶﾀｶﾅ ＡＢＣ１２３",
    "站在雨中的女孩，长发",
    "déjà vu café naïve ÅNGSTRÖM İstanbul ſtraße ß",
    "Москва Ελλάδα עברית العربية हिन्दी ไทย",
    "&amp; &lt;b&gt; AT&T schÃ¶n â€œquotedâ€\x9d ‘single’ “double”",
    "10_mira 1024x1024 3.14 ½ Ⅷ ² ٣ 42nd",
    "ｆｕｌｌ　ｗｉｄｔｈ\u3000space\u200b\u00ad\ufeffzero",
    "tab\there\x0bvertical\x85next\x1b[31mred\x00nul\x7f",
    "a\u0301 e\u0308 ﬁ ﬂ ﷺ 𝔐𝔦𝔯𝔞 🅰️",
    "supercalifragilisticexpialidocious pneumonoultramicroscopicsilicovolcanoconiosis",
    "http://example.org/a_b?c=d&e=f#g",
    "{red|blue} hair, [from behind::5], \\(series\\), <lora:x:0.8>",
)


def captions(count: int, seed: int = 1) -> list[str]:
    """Return captions; the first ones are the pieces themselves, among the others are very long ones."""
    draw = random.Random(seed)
    texts = [*PIECES, "", " ", " ".join(PIECES), "미라 " * 1700, "mira_x, " * 640, "🙂" * 5000]
    while len(texts) < count:
        kind = draw.randrange(4)
        if kind == 0:
            texts.append("".join(chr(_letter(draw)) for _at in range(draw.randrange(1, 40))))
        elif kind == 1:
            words = " ".join(draw.choices(PIECES, k=2)).split()
            texts.append(" ".join(draw.choices(words, k=draw.randrange(1, 40))))
        else:
            piece = draw.choice(PIECES)
            start = draw.randrange(len(piece))
            texts.append(piece[start:] + draw.choice((" ", ", ", "", "'s ", "\n")) + draw.choice(PIECES))
    return texts[:count]


def _letter(draw: random.Random) -> int:
    while True:
        code = draw.choice((draw.randrange(32, 127), draw.randrange(0x3000), draw.randrange(0x20000)))
        if not 0xD800 <= code < 0xE000:
            return code
