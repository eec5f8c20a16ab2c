import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Clipboard } from '@jupyterlab/apputils';
import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { notifyError } from '../notices';
import { cellInsertion, OPEN_COMMAND } from '../panel';
import { asServiceError, type ServiceRequests } from '../service';
import type { ICommand } from '../service/records/commands';

/** What the detail of a command can do with it. */
export interface ICommandSteps {
  /** Submit the same again, and open it. */
  runAgain: (command: ICommand) => void;
  copy: (text: string) => void;
  /** Return what inserts a cell below the active one of the open notebook; null when none is open. */
  insertion: () => ((cell: string) => void) | null;
  /** Write a text, highlighted, into an element; resolves to whether its language is known here. */
  highlight: (text: string, language: string, host: HTMLElement) => Promise<boolean>;
}

/** Return the steps of an application. */
export function commandSteps(
  app: JupyterFrontEnd,
  requests: ServiceRequests,
  notebooks: INotebookTracker | null,
  languages: IEditorLanguageRegistry | null,
  trans: TranslationBundle
): ICommandSteps {
  return {
    runAgain: command => void runAgain(app, requests, command, trans),
    copy: text => Clipboard.copyToSystem(text),
    insertion: () => cellInsertion(app, notebooks),
    highlight: async (text, language, host) => {
      const found = languages?.findByName(language) ?? null;
      if (languages === null || found === null) {
        return false;
      }
      await languages.highlight(text, found, host);
      return true;
    }
  };
}

async function runAgain(
  app: JupyterFrontEnd,
  requests: ServiceRequests,
  command: ICommand,
  trans: TranslationBundle
): Promise<void> {
  const { command_type, name, label } = command;
  const given = Object.entries({ ...command.command, command_type, name, label });
  const body = Object.fromEntries(given.filter(([, value]) => value !== null));
  try {
    const { id } = await requests.post<ICommand>('commands', body);
    await app.commands.execute(OPEN_COMMAND, { id });
  } catch (reason) {
    notifyError(
      trans.__('Command %1 cannot run again: %2', command.id, asServiceError(reason).message)
    );
  }
}
