from svc_jupyter.api.fields import PagingInfo
from svc_jupyter.client.transport.reading import Pages


def info(page: int, following: int | None) -> PagingInfo:
    return PagingInfo(page=page, per_page=3, next_page=following)


def test_an_object_that_moves_to_the_next_page_is_returned_once() -> None:
    pages: Pages[int] = Pages(int)
    assert pages.take([9, 8, 7], info(1, 2)) == [9, 8, 7]
    assert pages.page == 2
    assert pages.take([7, 6, 5], info(2, 3)) == [6, 5]
    assert pages.take([4], info(3, None)) == [4]
    assert pages.page is None


def test_a_page_without_paging_information_is_the_last() -> None:
    pages: Pages[int] = Pages(int)
    assert pages.take([1], None) == [1]
    assert pages.page is None


def test_a_service_that_turns_in_circles_does_not_keep_the_walk_going() -> None:
    same_page: Pages[int] = Pages(int)
    same_page.take([1], info(1, 1))
    assert same_page.page is None

    same_items: Pages[int] = Pages(int)
    same_items.take([2, 1], info(1, 2))
    assert same_items.take([2, 1], info(2, 3)) == []
    assert same_items.page is None
