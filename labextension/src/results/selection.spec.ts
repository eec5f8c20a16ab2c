import { areaOf, movedTo, tabSeparated } from './selection';

const press = (key: string, ctrlKey = false) => ({ key, ctrlKey, metaKey: false });

describe('movedTo', () => {
  const from = { row: 5, column: 1 };

  it('stays within the rows and columns', () => {
    expect(movedTo(press('PageDown'), from, 10, 3, 20)).toEqual({ row: 9, column: 1 });
    expect(movedTo(press('PageUp'), from, 10, 3, 20)).toEqual({ row: 0, column: 1 });
    expect(movedTo(press('ArrowRight'), { row: 5, column: 2 }, 10, 3, 20)).toEqual({
      row: 5,
      column: 2
    });
    expect(movedTo(press('End', true), from, 10, 3, 20)).toEqual({ row: 9, column: 2 });
  });

  it('reaches the head by the arrow only', () => {
    expect(movedTo(press('ArrowUp'), { row: 0, column: 1 }, 10, 3, 20)?.row).toBe(-1);
    expect(movedTo(press('PageUp'), { row: 0, column: 1 }, 10, 3, 20)?.row).toBe(0);
    expect(movedTo(press('ArrowDown'), { row: -1, column: 1 }, 10, 3, 20)?.row).toBe(0);
  });

  it('leaves other keys alone', () => {
    expect(movedTo(press('a'), from, 10, 3, 20)).toBeNull();
  });
});

describe('areaOf', () => {
  it('is the same from either corner, without the head', () => {
    const anchor = { row: 4, column: 2 };
    const active = { row: -1, column: 0 };
    const area = { top: 0, bottom: 4, left: 0, right: 2 };
    expect(areaOf({ anchor, active })).toEqual(area);
    expect(areaOf({ anchor: active, active: anchor })).toEqual(area);
  });
});

describe('tabSeparated', () => {
  it('quotes what would be taken for another cell or row', () => {
    const text = tabSeparated(
      ['a', 'b\tc'],
      [
        ['x "y"', 'two\nlines'],
        [null, 1.5]
      ],
      [0, 1]
    );
    expect(text).toBe('a\t"b\tc"\n"x ""y"""\t"two\nlines"\n\t1.5');
  });
});
