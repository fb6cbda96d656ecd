r"""Pairs of answers, response first, as people and models write them, by what they show.

Written by hand, without looking at what the grader says of them.
"""

# Of each group the pairs mean the same.
SAME = {
    "numbers": r"""
        42 | 42
        42. | 42
        +42 | 42
        042 | 42
        42.0 | 42
        42.00 | 42
        -7 | -7
        - 7 | -7
        −7 | -7
        1,000 | 1000
        1,234,567 | 1234567
        1{,}000 | 1000
        1\,000 | 1000
        10{,}080 | 10,080
        .5 | 0.5
        0.50 | 0.5
        3.0 | 3
        1e3 | 1000
        1.5e3 | 1500
        2.5E-2 | 0.025
        1.2 \times 10^3 | 1200
        1.2 \cdot 10^{3} | 1200
        6.02 \times 10^{23} | 602000000000000000000000
        5 × 10^-2 | 0.05
        $42$ | 42
        \(42\) | 42
        \[42\] | 42
        $$42$$ | 42
        **42** | 42
        \text{42} | 42
        \mathbf{42} | 42
        1,000,000.50 | 1000000.5
        0 | 0.0
        -0 | 0
    """,
    "fractions": r"""
        1/2 | \frac{1}{2}
        \frac12 | 1/2
        \dfrac{1}{2} | \frac{1}{2}
        \tfrac{1}{2} | 0.5
        \frac{2}{4} | 1/2
        2/4 | 1/2
        0.5 | \frac{1}{2}
        0.125 | 1/8
        -\frac{3}{4} | -0.75
        \frac{-3}{4} | -\frac{3}{4}
        -3/4 | \frac{-3}{4}
        3\frac{1}{2} | 3.5
        3 1/2 | \frac{7}{2}
        3\dfrac12 | 7/2
        \frac{1,000}{3} | \frac{1000}{3}
        \frac{10}{5} | 2
        14/2 | 7
        ½ | 0.5
        ¾ | 3/4
        \frac{ 1 }{ 2 } | \frac{1}{2}
        \left(\frac{1}{2}\right) | \frac{1}{2}
        \frac{7}{-2} | -\frac{7}{2}
        \frac{1.5}{3} | \frac{1}{2}
        22/7 | \frac{22}{7}
        \frac{1}{3} | 2/6
        -1 1/2 | -1.5
    """,
    "percent": r"""
        50% | 50%
        50\% | 50%
        50 \% | 50
        50 | 50\%
        50% | 0.5
        50% | \frac{1}{2}
        12.5\% | 12.5%
        12.5 percent | 12.5%
        0.5 | 50%
        100% | 1
        1/4 | 25%
        33 percent | 33%
        $75\%$ | 75
        7.50% | 7.5%
    """,
    "money and units": r"""
        $18 | 18
        18 dollars | 18
        \$18 | 18
        \$18.00 | 18
        18 dollars | $18
        \$1,200 | 1200
        $1,200.50 | 1200.5
        €20 | 20 euros
        50 cents | 50
        50 cents | $0.50
        5 cm | 5
        5 | 5 cm
        5cm | 5 cm
        5\text{ cm} | 5 cm
        5\,\text{cm} | 5
        5 \mathrm{cm} | 5 centimeters
        5 meters | 5 m
        100 cm | 1 m
        1.5 km | 1500 m
        2 hours | 120 minutes
        90 minutes | 1.5 hours
        1 kg | 1000 g
        12 inches | 1 foot
        3 feet | 1 yard
        1 minute | 60 seconds
        24 square meters | 24 m^2
        24 m^2 | 24
        24\text{ cm}^2 | 24 cm^{2}
        24 cm² | 24
        1 m^2 | 10000 cm^2
        60 km/h | 60 km per hour
        60 kilometers per hour | 60
        5 apples | 5
        5 apples | 5 apple
        12 students | 12
        45^\circ | 45
        45^{\circ} | 45 degrees
        45° | 45
        45 degrees | 45^\circ
        3 days | 3
        7 o'clock | 7
        2 weeks | 14 days
        250 ml | 0.25 liters
        -3 degrees | -3
        1 year | 12 months
    """,
    "names and words": r"""
        x = 5 | 5
        x=5 | x = 5
        5 | x=5
        y = -\frac{1}{2} | -0.5
        n=12 | 12
        x_1 = 3 | 3
        f(x) = 4 | 4
        Monday | monday
        MONDAY | Monday
        \text{Monday} | Monday
        \textbf{Evelyn} | Evelyn
        yes | Yes
        No. | no
        (C) | C
        C | (C)
        c | C
        C. | C
        C) Paris | C
        (B) 42 | B
        \text{(D)} | D
        \textbf{(A)} | A
        blue whale | Blue whale
        True | true
        both | Both
        odd | \text{odd}
    """,
    "lists": r"""
        1, 2, 3 | 1,2,3
        3, 1, 2 | 1, 2, 3
        1, 2 and 3 | 1, 2, 3
        1 and 2 | 2, 1
        2 or -2 | -2, 2
        x = 1, x = 2 | 1, 2
        \{1, 2\} | \{2, 1\}
        \{1,2\} | 1, 2
        {1, 2} | \{1,2\}
        (1, 2) | (1,2)
        (1,2) | \left(1, 2\right)
        (0.5, 1) | (\frac{1}{2}, 1)
        (1, 2, 3) | (1,2,3)
        [1, 2] | [1,2]
        (1/2, -3) | \left( \frac{1}{2}, -3 \right)
        1; 2 | 1, 2
        (5) | 5
        \frac{1}{2}, \frac{1}{3} | 1/3, 1/2
        (0, 1] | (0,1]
        10, 1,000 | 1000, 10
    """,
    "algebra": r"""
        \sqrt{8} | 2\sqrt{2}
        2\sqrt2 | 2\sqrt{2}
        \sqrt{4} | 2
        \frac{\sqrt{2}}{2} | \frac{1}{\sqrt{2}}
        \frac{1}{\sqrt{3}} | \frac{\sqrt{3}}{3}
        (x+1)^2 | x^2+2x+1
        x^2 + 2x + 1 | 1 + 2x + x^2
        2x+1 | 1+2x
        2(x+1) | 2x+2
        x(x-1) | x^2-x
        (x-2)(x+2) | x^2-4
        3\pi | \pi \cdot 3
        3π | 3\pi
        \frac{\pi}{2} | \frac{1}{2}\pi
        2^{10} | 1024
        2^3 | 8
        \sqrt[3]{27} | 3
        5! | 120
        \binom{5}{2} | 10
        \log_2 8 | 3
        \ln(e^2) | 2
        \sin(\frac{\pi}{6}) | \frac{1}{2}
        e^{0} | 1
        \frac{x^2-1}{x-1} | x+1
        \frac{a}{b} | a/b
        y = 2x + 1 | y = 1 + 2x
        y=2x+1 | 2x+1
        [0, 1) | [0,1)
        (-\infty, 5] | (-\infty,5]
        (-\infty, 2) \cup (3, \infty) | (3,\infty)\cup(-\infty,2)
        \{\sqrt{2}, 1\} | \{1, \sqrt{2}\}
        (\sqrt{2}, 1) | (\sqrt{2},1)
        \begin{pmatrix} 1 \\ 2 \end{pmatrix} | \begin{pmatrix}1\\2\end{pmatrix}
        \begin{pmatrix} 1 \\ 2 \end{pmatrix} | \begin{bmatrix} 1 \\ 2 \end{bmatrix}
        3+4i | 4i+3
        1 + \sqrt{5} | \sqrt{5} + 1
        \frac{1+\sqrt{5}}{2} | \frac12 + \frac{\sqrt5}{2}
        \frac{2x}{4} | \frac{x}{2}
        -x+3 | 3-x
        x^{-1} | \frac{1}{x}
        \sqrt{x^2 y^2 \cdot 4} | 2\sqrt{x^2y^2}
        1 \pm \sqrt{2} | 1 \pm \sqrt{2}
        \emptyset | \emptyset
        x^2y | yx^2
        6 \cdot 7 | 42
        \frac{3}{4}\pi | \frac{3\pi}{4}
        10\sqrt{3} | 10 \cdot \sqrt{3}
    """,
    "sizes in words": r"""
        2 million | 2000000
        1.5 million | 1,500,000
        \$3 million | 3000000
        $3 billion | 3,000,000,000
        3 million people | 3000000
        1.2 million dollars | 1200000
        2 thousand | 2000
        3 hundred | 300
        \$2.5k | 2500
        5 dozen eggs | 60
        5 dozen eggs | 60 eggs
        3 halves | 1.5
        4 tenths | 0.4
        2 thirds | \frac{2}{3}
        half | \frac12
        5 squared | 25
        2 cubed | 8
        5 and a half | 5.5
        2 and a half million | 2500000
    """,
    "units behind expressions": r"""
        25\pi\text{ cm}^2 | 25\pi
        25\pi\text{ cm}^2 | 25\pi\text{ cm}^{2}
        36\pi\text{ in}^3 | 36\pi
        36\pi\text{ inches}^2 | 36\pi
        25\pi\text{ units}^2 | 25\pi
        25\pi \text{ square units} | 25\pi
        \frac{3\sqrt{2}}{2} \text{ cm}^2 | \frac{3\sqrt{2}}{2}
        4\sqrt{2} \text{ cm}^2 | 4\sqrt{2}
        10\sqrt{2} ft | 10\sqrt{2}
        2\sqrt{3} cm | \sqrt{12}\text{ cm}
        2\sqrt{3}\text{ m} | 200\sqrt{3}\text{ cm}
        \pi\text{ hours} | 60\pi\text{ minutes}
        1.5\times10^3 m | 1.5 km
        1.5\times 10^{3}\text{ m} | 1.5 km
        60 mph | 60
        60 mph | 60 miles per hour
        60\text{ mph} | 60 mph
        5g | 5 grams
        5 kg | 5000g
        5 ft 3 in | 63 inches
        1 hour 30 minutes | 90 minutes
        1 hour and 30 minutes | 1.5 hours
        24 cm squared | 24 cm^2
        5 sq. ft. | 5 square feet
        5 red marbles | 5
        1/2 of a cup | 0.5
        20^\circ\text{C} | 20
        2:30 pm | 2:30
    """,
    "signs and commands": r"""
        x \geqslant 2 | x \ge 2
        x \leqslant 2 | x \le 2
        x \geqslant 2 | x \geq 2
        \varnothing | \emptyset
        {10 \choose 3} | 120
        {\bf 12} | 12
        \bf{12} | 12
        \mathbf 12 | 12
        \underline{12} | 12
        \textcolor{red}{12} | 12
        \color{red} 12 | 12
        `12` | 12
        ‐5 | -5
        ‑5 | -5
        －5 | -5
        —5 | -5
        0.\overline{3} | 1/3
        0.1\overline{6} | \frac{1}{6}
        0.\overline{36} | \frac{4}{11}
        3.\bar{3} | 10/3
        5 = x | 5
        5 = x | x = 5
        \sin 30^\circ | 1/2
        \cos 60^\circ | 0.5
        \tan 15^\circ | 2-\sqrt{3}
        e^{i\pi} | -1
        2i | i \cdot 2
        2^{0.5} | \sqrt{2}
        2^{0.5} | \sqrt2
        \frac{x}{1} | x
        3(4) | 12
        x\in\{1,2\} | \{1,2\}
        x = \pm 2 | 2, -2
        \langle 1,2\rangle | (1,2)
    """,
    "lists that look like numbers": r"""
        1, 234 | 1,  234
        (1, 100) | (1,100)
        (12, 345, 678) | (12,345,678)
        (3, 120) | (3,\,120)
        1,2,345 | 1, 2, 345
        \{1,2,2\} | \{1,2\}
        \{3\} | \{3, 3\}
        x=5, y=3 | 5, 3
        x=3, y=5 | y=5, x=3
        1,2,3,\ldots | 1, 2, 3, ...
        123_5 | 123_{5}
        123_5 | 123
        \{\sqrt{2}, 1, 1\} | \{1, \sqrt{2}\}
    """,
    "words of more than letters": r"""
        St. Louis | st. louis
        Tom | tom
        \text{Red} | red
    """,
}

# Of each group the pairs mean something else, often by one sign only.
DIFFERENT = {
    "numbers": r"""
        41 | 42
        42 | -42
        -7 | 7
        4.2 | 42
        420 | 42
        42.1 | 42
        42.01 | 42
        1,000 | 100
        1,00 | 1000
        0.05 | 0.5
        1e3 | 100
        1.2 \times 10^3 | 120
        1.2 \times 10^{-3} | 1200
        3.14 | 3.1416
        3.14 | \pi
        3.141592653 | \pi
        1.41 | \sqrt{2}
        1.414214 | \sqrt{2}
        0.33 | 1/3
        0.333333 | \frac{1}{3}
        0.6667 | 2/3
        1000000001 | 1000000000
        99999999999999999999 | 100000000000000000000
        0 | 1
        1.0000001 | 1
        7e2 | 7
        2 | 20
        12 | 21
        1234 | 1,2,3,4
        5 5 | 5
    """,
    "fractions": r"""
        \frac{1}{2} | \frac{2}{1}
        1/2 | 1/3
        \frac{3}{4} | 0.76
        -\frac{1}{2} | \frac{1}{2}
        \frac{-3}{-4} | -\frac{3}{4}
        3\frac{1}{2} | \frac{3}{2}
        3 1/2 | 31/2
        3\frac{1}{2} | \frac{31}{2}
        1/0 | 0
        \frac{1}{0} | 1
        2/3 | 3/2
        \frac{12}{5} | \frac{1}{25}
        \frac{10}{3} | 3
        0.3 | 1/3
        -1 1/2 | -0.5
    """,
    "percent": r"""
        50% | 51%
        50% | 5
        5% | 0.5
        50% | 500
        0.5% | 50%
        50% | 0.05
        50% | 50 cm
        12.5% | 12%
        50% | -50%
        25% | 1/5
    """,
    "money and units": r"""
        $18 | 81
        $18 | 18 cents
        50 cents | $5
        $5 | 5 euros
        5 cm | 5 m
        5 cm | 6 cm
        100 cm | 10 m
        2 hours | 2 minutes
        2 hours | 100 minutes
        5 m | 5 m^2
        24 cm^2 | 24 cm^3
        5 kg | 5 g
        5 kg | 5 m
        60 km/h | 60 m/s
        60 km/h | 60 km
        5 apples | 6 apples
        5 apples | 5 oranges
        45^\circ | 45 cm
        45^\circ | 46
        5x | 5
        5 | 5x
        5m | 5
        18 dollars | 18.5
        1 foot | 11 inches
        3 days | 72
        7 days | 7 weeks
        2000 g | 2.5 kg
        100 m | 1 cm
    """,
    "names and words": r"""
        x = 5 | 6
        x = 5 | y = 5
        x = 5 | x = -5
        Monday | Tuesday
        yes | no
        True | False
        A | B
        (C) | D
        C) Paris | B
        D | C
        ABCD | A
        Evelyn | Eve
        five apples | 5
        blue | red
        none | 0
        odd | even
        not blue | blue
        knight | knave
        Anna and Ben | Anna
        x | 5
    """,
    "lists": r"""
        1, 2 | 1, 2, 3
        1, 2, 3 | 1, 2
        1, 1, 2 | 1, 2, 2
        1, 2 | 1, -2
        (1, 2) | (2, 1)
        (1, 2) | (1, 3)
        (1, 2) | [1, 2]
        (0, 1] | [0, 1)
        [0, 1) | [0, 1]
        (1, 2, 3) | (1, 2)
        \{1, 2\} | \{1, 3\}
        \{1\} | \{1, 2\}
        1, 2 | 12
        1 and 2 | 3
        2 or 3 | 2
        5 or 6 | 5
        3, 4, 5 | 5
        (1, 2) | (-1, 2)
        2 | \pm 2
        1; 2 | 1; 3
        x=1 or x=2 | x=1 or x=3
    """,
    "algebra": r"""
        \sqrt{8} | 2\sqrt{3}
        \sqrt{2} | 2
        \sqrt{2} | -\sqrt{2}
        2\sqrt{2} | \sqrt{2}
        (x+1)^2 | x^2+1
        x^2+2x+1 | x^2-2x+1
        2x+1 | 2x-1
        2x+1 | 2x
        x^2 | x^3
        x | y
        xy | x+y
        x-y | y-x
        \frac{x}{y} | \frac{y}{x}
        3\pi | 2\pi
        \pi | 2\pi
        3\pi | 3
        2^{10} | 2^{11}
        2^{10} | 20
        \binom{5}{2} | 5
        5! | 5
        \log_2 8 | 2
        \sin(x) | \cos(x)
        e^x | e^{-x}
        e^2 | 7.389
        y = 2x + 1 | y = 2x - 1
        y = 2x + 1 | x = 2y + 1
        x \le 5 | x < 5
        x > 3 | x < 3
        (-\infty, 5] | (-\infty, 5)
        (-\infty, 2) | (2, \infty)
        (-\infty, 2) \cup (3, \infty) | (2, 3)
        \{\sqrt{2}, 1\} | \{\sqrt{2}, 2\}
        (\sqrt{2}, 1) | (1, \sqrt{2})
        \begin{pmatrix} 1 \\ 2 \end{pmatrix} | \begin{pmatrix} 2 \\ 1 \end{pmatrix}
        3+4i | 3-4i
        3+4i | 7
        \frac{1+\sqrt{5}}{2} | \frac{1-\sqrt{5}}{2}
        \frac{1+\sqrt{5}}{2} | 1.618
        1 \pm \sqrt{2} | 1 + \sqrt{2}
        \emptyset | 0
        \infty | -\infty
        10\sqrt{3} | 17.32
        x^2y | xy^2
        \sqrt[3]{9} | \sqrt{9}
        \frac{x+1}{2} | x + \frac{1}{2}
        -x^2 | (-x)^2
        2x = 4 | x = 4
        a^2+b^2 | (a+b)^2
    """,
    "sizes in words": r"""
        2 million | 2
        $3 billion | 3
        3 million people | 3
        5 dozen eggs | 5
        3 dozen | 3
        3 halves | 3
        4 tenths | 4
        2 thirds | 2
        5 third graders | \frac{5}{3}
        3 quarters | 3
        5 squared | 5
        5 factorial | 5
        5 and a half | 5
        5 or fewer | 5
        5 or more | 5
        5 minus x | 5
        5 plus 3 | 5
        5 if x is odd | 5
        5 is wrong | 5
        5 is not the answer | 5
        5 not | 5
        8 no | 8
        5 percent off | 5
        5 less than ten | 5
        10 more than x | 10
        2 to the third | 2
        5 below zero | 5
        3 infinity | 3
        5 maybe six | 5
        5 per x | 5
        5 pi | 5
        5 sqrt | 5
        5 apples that she bought yesterday | 5
        3 degrees below zero | 3
    """,
    "units behind expressions": r"""
        2\sqrt{3} cm | 2\sqrt{3} m
        2\sqrt3 cm | 2\sqrt3 m
        2\sqrt{3}\text{ cm} | 2\sqrt{3}\text{ m}
        \pi hours | \pi minutes
        \pi\text{ hours} | \pi\text{ minutes}
        3\times10^8 m | 3\times10^8 km
        25\pi\text{ cm} | 25\pi\text{ cm}^2
        25\pi\text{ cm}^2 | 25
        \pi h | \pi
        5 Mg | 5 mg
        5 M | 5 m
        60 mph | 60 km/h
        1 hour 30 minutes | 130
        5 ft 3 in | 5.3 feet
        5g | 5
        2:30 pm | 2:30 am
        20^\circ\text{C} | 20^\circ\text{F}
    """,
    "capitals": r"""
        \pi r^2 | \pi R^2
        2x | 2X
        n | N
        x_1 | X_1
        A_1 | a_1
        xY | xy
        a+b | A+B
        2e | 2E
        2i | 2I
    """,
    "numbers that look alike": r"""
        1100 | (1,100)
        1,234 | 1, 234
        1,234 | (1,234)
        1,100 | \{1,100\}
        123_5 | 123_6
        1,2,3,\ldots | 1,2,3
        \{1,2,\ldots,10\} | \{1,2,10\}
        1,2,...,10 | 1,2,10
        x=5,y=3 | 3, 5
        x=5, y=3 | x=3, y=5
        \pi | 3.14159265358979
        \sqrt2 | 1.4142135623730951
        \frac{2.8284271247461903}{2} \cdot 1 | \sqrt{2}
        \sin(1) | 0.8414709848078965
        0.\overline{3} | 0.33
        0.\overline{12} | 0.\overline{21}
        3(4) | 7
        \emptyset | \{0\}
        1, 2, 2 | \{1, 2\}
    """,
}


def pairs(table: dict[str, str]) -> list[tuple[str, str]]:
    """Response and reference of each line."""
    lines = [line.strip() for group in table.values() for line in group.splitlines()]
    found = [tuple(line.split(" | ")) for line in lines if line]
    assert all(len(pair) == 2 for pair in found), [pair for pair in found if len(pair) != 2]
    return [(pair[0], pair[1]) for pair in found]
