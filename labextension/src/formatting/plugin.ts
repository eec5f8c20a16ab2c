import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import type { Cell } from '@jupyterlab/cells';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { notify, notifyError } from '../notices';
import { EXTENSION_ID, ISvcService, TRANSLATION_DOMAIN } from '../service';
import { categoryOf } from '../words';
import { placeOf } from './place';

export const FORMAT_SQL = 'svc-jupyter:format-sql';

/** The answer of the server extension: the cell, and what is said of statements that stay as they are. */
interface IFormatted {
  source: string;
  note: string | null;
}

/** "Format SQL": lays out the SQL of the cell with the cursor. */
export const formattingPlugin: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:formatting`,
  description: 'Lays out the SQL of cells.',
  autoStart: true,
  requires: [ISvcService, INotebookTracker],
  optional: [ITranslator, ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    service: ISvcService,
    notebooks: INotebookTracker,
    translator: ITranslator | null,
    palette: ICommandPalette | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    app.commands.addCommand(FORMAT_SQL, {
      label: trans.__('Format SQL'),
      describedBy: { args: { type: 'object', properties: {} } },
      isEnabled: () => isEditable(notebooks.activeCell),
      execute: async () => {
        const cell = notebooks.activeCell;
        if (!isEditable(cell)) {
          return;
        }
        const source = cell.model.sharedModel.getSource();
        try {
          const found = await service.requests.post<IFormatted>('format', { source });
          write(cell, source, found.source);
          if (found.note !== null) {
            notify(found.note);
          }
        } catch (reason) {
          notifyError(reason);
        }
      }
    });
    palette?.addItem({ command: FORMAT_SQL, category: categoryOf(trans) });
  }
};

function isEditable(cell: Cell | null): cell is Cell {
  return cell?.model.type === 'code' && !cell.readOnly;
}

/** Write the new text, unless the cell was edited meanwhile; the cursor stays where it was in the SQL. */
function write(cell: Cell, before: string, after: string): void {
  if (cell.isDisposed || cell.model.sharedModel.getSource() !== before || after === before) {
    return;
  }
  const { editor } = cell;
  const cursor = editor?.getOffsetAt(editor.getCursorPosition()) ?? 0;
  cell.model.sharedModel.setSource(after);
  const position = editor?.getPositionAt(placeOf(before, cursor, after));
  if (position) {
    editor?.setCursorPosition(position);
  }
}
