"""Tables as tools print them."""

import pytest

from svc_jupyter.magics.display.printed_tables import NotATable, cells_of


def table(text):
    return cells_of(text.strip("\n").split("\n"))


def test_df_has_a_column_name_of_two_words():
    names, rows = table(
        """
Filesystem      Size  Used Avail Use% Mounted on
overlay         252G   11G  242G   5% /
tmpfs            64M     0   64M   0% /dev/shm
"""
    )
    assert names == ["Filesystem", "Size", "Used", "Avail", "Use%", "Mounted on"]
    assert rows[1] == ["tmpfs", "64M", "0", "64M", "0%", "/dev/shm"]


def test_df_with_the_root_alone_keeps_its_column_name():
    names, rows = table(
        """
Filesystem      Size Mounted on
overlay         252G /
"""
    )
    assert names == ["Filesystem", "Size", "Mounted on"]
    assert rows == [["overlay", "252G", "/"]]


def test_ps_gives_the_rest_of_the_line_to_the_last_column():
    names, rows = table(
        """
USER         PID %CPU COMMAND
root           1  0.0 /sbin/init splash now
reader         4242  1.5 python -m http.server 80
"""
    )
    assert names == ["USER", "PID", "%CPU", "COMMAND"]
    assert rows[0] == ["root", "1", "0.0", "/sbin/init splash now"]
    assert rows[1] == ["reader", "4242", "1.5", "python -m http.server 80"]


def test_an_empty_cell_stays_empty():
    names, rows = table(
        """
NAME  SIZE TYPE MOUNTPOINTS
sda    10G disk
sda1    9G part /
"""
    )
    assert names == ["NAME", "SIZE", "TYPE", "MOUNTPOINTS"]
    assert rows == [["sda", "10G", "disk", ""], ["sda1", "9G", "part", "/"]]


def test_cells_of_several_words_under_one_name():
    names, rows = table(
        """
CONTAINER ID   IMAGE    CREATED        STATUS
0a1b2c3d4e5f   web:1    2 hours ago    Up 2 hours
1a1b2c3d4e5f   db:14    3 weeks ago    Exited (0)
"""
    )
    assert names == ["CONTAINER ID", "IMAGE", "CREATED", "STATUS"]
    assert rows[0] == ["0a1b2c3d4e5f", "web:1", "2 hours ago", "Up 2 hours"]


def test_columns_that_are_not_aligned_are_split_at_blanks():
    assert table("name count\nalice 3\nbob 12") == (["name", "count"], [["alice", "3"], ["bob", "12"]])


def test_psql_and_markdown_tables():
    expected = (["id", "name"], [["1", "a b"], ["2", ""]])
    assert table(" id | name \n----+------\n  1 | a b\n  2 | \n(2 rows)") == expected
    assert table("| id | name |\n|:---|-----:|\n| 1 | a b |\n| 2 |  |") == expected


def test_tabs_count_as_blanks():
    assert table("a\tb\n1\t2")[1] == [["1", "2"]]


def test_repeated_names_are_told_apart():
    assert table("a  a  a\n1  2  3")[0] == ["a", "a.1", "a.2"]


def test_no_lines_are_no_columns_and_a_header_alone_has_no_rows():
    assert table("") == ([], [])
    assert table("a  b") == (["a", "b"], [])


def test_a_row_with_other_columns_is_refused():
    with pytest.raises(NotATable, match="row 3 has 3 columns, the first line names 2"):
        table("a | b\n1 | 2\n1 | 2 | 3\n1 | 2")
