import re

import numpy as np
import pytest

from everyface.demo.sheet import THUMB, Figure, Row, Summary, sheet


def picture(value, shape=(300, 400)):
    return np.full((*shape, 3), value, dtype=np.uint8)


@pytest.fixture
def page(tmp_path):
    rows = [
        Row(1, "person 3", [picture(10), picture(20)], [picture(30), None]),
        Row(0, "person 1", [picture(40)], [picture(50)]),
        Row(0, "<b>person 2</b>", [picture(60)], [picture(70)]),
    ]
    summary = Summary(
        title="Faces & figures",
        k=2,
        guarantees={"faces": "k-anonymous", "photos": "measured"},
        figures=[Figure("rank-1 (SFace)", "0.19", "at most 0.50")],
        notes=["Blending lowered the promise."],
    )
    out = sheet(rows, summary, tmp_path / "deep" / "sheet.html", shared={0: picture(80)})
    return out.read_text(encoding="utf-8")


def test_page_stands_alone(page):
    assert "<script" not in page
    assert not re.findall(r"(?:src|href)=\"(?!data:image/jpeg;base64,)", page)
    assert "http" not in page


def test_every_picture_has_its_own_alternative_text(page):
    alts = re.findall(r"<img [^>]*alt=\"([^\"]+)\"", page)
    assert len(alts) == page.count("<img ") == 8
    assert len(set(alts)) == len(alts)


def test_markup_in_captions_is_shown_not_run(page):
    assert "<b>person 2</b>" not in page
    assert "&lt;b&gt;person 2" in page


def test_groups_stand_in_order_and_hold_their_people(page):
    first, second = page.index("Group 1"), page.index("Group 2")
    assert first < page.index("person 1") < second < page.index("person 3")


def test_head_says_what_was_passed_and_that_nobody_is_real(page):
    for words in ("Faces &amp; figures", "rank-1 (SFace)", "0.19", "at most 0.50", "measured"):
        assert words in page
    assert "None of these people exist" in page
    assert "Blending lowered the promise." in page


def test_photo_that_was_held_back_is_named_so(page):
    assert page.count('class="held"') == 1


def test_pictures_are_thumbnails(page):
    import base64

    import cv2

    data = base64.b64decode(re.findall(r"base64,([^\"]+)", page)[0])
    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    assert image.shape == (THUMB * 3 // 4, THUMB, 3)
