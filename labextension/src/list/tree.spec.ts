import { type ITreeRow, movesThroughTree } from './tree';

const ROWS: ITreeRow[] = [
  { kind: 'item', key: 'a', depth: 0, isOpen: true, isFixed: false },
  { kind: 'item', key: 'b', depth: 1, isOpen: false, isFixed: false },
  { kind: 'item', key: 'c', depth: 0, isOpen: true, isFixed: false },
  { kind: 'loading', key: 'd', depth: 1, isOpen: false, isFixed: false },
  { kind: 'item', key: 'e', depth: 1, isOpen: true, isFixed: true }
];

/** Press a key on a row; return what it did. */
function press(key: string, row: number): string[] {
  const done: string[] = [];
  const tree = {
    rows: ROWS,
    opens: () => true,
    toggle: (one: ITreeRow) => done.push(`toggle ${one.key}`),
    onSelect: (one: ITreeRow) => done.push(`select ${one.key}`)
  };
  const isHandled = movesThroughTree({ key }, ROWS[row] as ITreeRow, tree);
  return isHandled ? done : ['not handled'];
}

it('opens with Right, then enters; a message is not entered', () => {
  expect(press('ArrowRight', 1)).toEqual(['toggle b']);
  expect(press('ArrowRight', 0)).toEqual(['select b']);
  expect(press('ArrowRight', 2)).toEqual([]);
});

it('closes with Left, then leaves', () => {
  expect(press('ArrowLeft', 0)).toEqual(['toggle a']);
  expect(press('ArrowLeft', 1)).toEqual(['select a']);
  expect(press('ArrowLeft', 3)).toEqual(['select c']);
  expect(press('ArrowLeft', 4)).toEqual(['select c']);
});

it('leaves other keys to others', () => {
  expect(press('F2', 0)).toEqual(['not handled']);
});
