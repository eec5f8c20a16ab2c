import type { TranslationBundle } from '@jupyterlab/translation';
import {
  fileIcon,
  folderIcon,
  type LabIcon,
  notebookIcon,
  tableRowsIcon,
  textEditorIcon
} from '@jupyterlab/ui-components';
import { type DragEvent, type HTMLAttributes, type JSX, useState } from 'react';
import { TreeLine, TreeList } from '../list';
import type { IRow } from './branches';
import { type IItem, type ItemKind, keyOf, opens } from './items';
import type { TreeModel } from './model';
import { obstacleToMove, possibleSteps } from './steps';

/** A tree, and the callbacks for its items. */
export interface ITreeViewProps {
  trans: TranslationBundle;
  model: TreeModel;
  label: string;
  /** Show only folders. */
  placesOnly?: boolean;
  /** Open an item that does not open within the tree. */
  onOpen?: (item: IItem) => void;
  /** An item was dropped onto a folder that accepts it. */
  onDrop?: (item: IItem, place: IItem) => void;
}

const ICONS: Readonly<Record<ItemKind, LabIcon | null>> = {
  tree: null,
  directory: folderIcon,
  folder: folderIcon,
  notebook: notebookIcon,
  file: fileIcon,
  note: textEditorIcon,
  dashboard: tableRowsIcon
};

/** A tree of the service; each folder is read when it is opened. */
export function TreeView(props: ITreeViewProps): JSX.Element {
  const { trans, model, label, placesOnly = false, onOpen } = props;
  const rows = placesOnly ? model.branches.rows(true) : model.rows;
  const drag = useDrag(props);
  const activate = (row: IRow): void => {
    if (row.kind === 'more') {
      void model.more(row.item);
    } else if (row.kind === 'problem') {
      void model.open(row.item);
    } else if (row.kind === 'item' && opens(row.item)) {
      toggle(model, row);
    } else if (row.kind === 'item') {
      onOpen?.(row.item);
    }
  };
  const select = (row: IRow): void => model.select(row.kind === 'item' ? row.item : null);
  return (
    <TreeList
      rows={rows}
      label={label}
      opens={row => opens(row.item)}
      toggle={row => toggle(model, row)}
      render={row => <TreeRow trans={trans} model={model} row={row} />}
      selectedKey={model.selected && `${keyOf(model.selected)}#item`}
      onSelect={select}
      onContextMenu={select}
      onActivate={activate}
      rowProps={row => ({
        onFocusCapture: () => select(row),
        ...(model.busy &&
          row.kind === 'item' && { 'aria-busy': keyOf(model.busy) === keyOf(row.item) }),
        ...drag(row)
      })}
    />
  );
}

function toggle(model: TreeModel, row: IRow): void {
  if (row.isFixed) {
    return;
  }
  if (model.branches.branch(row.item)) {
    model.close(row.item);
  } else {
    void model.open(row.item);
  }
}

interface ITreeRowProps {
  trans: TranslationBundle;
  model: TreeModel;
  row: IRow;
}

function TreeRow({ trans, model, row }: ITreeRowProps): JSX.Element {
  const { item, depth } = row;
  if (row.kind !== 'item') {
    return <TreeLine depth={depth} name={wordsOf(trans, row)} hover={row.text} isMuted />;
  }
  return (
    <TreeLine
      depth={depth}
      name={item.name}
      hover={item.path}
      icon={ICONS[item.kind]}
      isOpen={opens(item) && !row.isFixed ? row.isOpen : null}
      toggle={() => toggle(model, row)}
    />
  );
}

function wordsOf(trans: TranslationBundle, row: IRow): string {
  switch (row.kind) {
    case 'more':
      return trans.__('more… (Enter)');
    case 'loading':
      return trans.__('asking the service…');
    case 'cut':
      return row.text || trans.__('more was found: type more of the name');
    case 'problem':
      return trans.__('✗ %1 (Enter: try again)', row.text);
    default:
      return trans.__('nothing in it');
  }
}

/** Return the drag handlers of rows: only a folder that accepts the item allows the drop. */
function useDrag(props: ITreeViewProps): (row: IRow) => HTMLAttributes<HTMLDivElement> {
  const { trans, onDrop } = props;
  const [dragged, setDragged] = useState<IItem | null>(null);
  const [target, setTarget] = useState<string | null>(null);
  const end = (): void => {
    setDragged(null);
    setTarget(null);
  };
  return row => {
    const { item } = row;
    if (!onDrop || row.kind !== 'item') {
      return {};
    }
    const takes = dragged !== null && obstacleToMove(trans, dragged, item) === null;
    return {
      draggable: possibleSteps(item).has('move'),
      onDragStart: (event: DragEvent) => {
        event.dataTransfer.effectAllowed = 'move';
        event.dataTransfer.setData('text/plain', item.path);
        setDragged(item);
      },
      onDragOver: (event: DragEvent) => {
        if (takes) {
          event.preventDefault();
          event.dataTransfer.dropEffect = 'move';
          setTarget(row.key);
        }
      },
      onDragLeave: () => setTarget(null),
      onDrop: (event: DragEvent) => {
        event.preventDefault();
        end();
        if (takes) {
          onDrop(dragged, item);
        }
      },
      onDragEnd: end,
      ...(takes && target === row.key && { 'data-target': '' })
    };
  };
}
