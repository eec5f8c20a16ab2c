import { OPEN_COMMAND } from '../panel';
import { ResultCalls } from '../results';
import { asServiceError } from '../service';
import type { IOrigin } from './bundle';
import type { IOutputContext } from './outputContext';

/** Put links into a status line that open its command, at its log or at its beginning, in place of a folded log. */
export function withLinks(node: HTMLElement, origin: IOrigin, context: IOutputContext): void {
  const { trans, commands } = context;
  if (!commands.hasCommand(OPEN_COMMAND)) {
    return;
  }
  node.querySelector('.svc-status-fold')?.remove();
  const place = node.querySelector('.svc-status-links');
  const link = (words: string, isLog: boolean): HTMLElement => {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'jp-SvcResult-button';
    button.textContent = words;
    button.addEventListener('click', () => void open(button, origin, isLog, context));
    return button;
  };
  place?.replaceChildren(link(trans.__('Log'), true), link(trans.__('Open'), false));
}

async function open(
  button: HTMLButtonElement,
  origin: IOrigin,
  isLog: boolean,
  { requests, commands, trans }: IOutputContext
): Promise<void> {
  try {
    const createdAt = await new ResultCalls(requests, origin.command).createdAt();
    if (createdAt === origin.createdAt) {
      await commands.execute(OPEN_COMMAND, { id: origin.command, log: isLog });
    } else {
      refuse(button, trans.__('command %1 of this service is another one', origin.command));
    }
  } catch (reason) {
    refuse(button, asServiceError(reason).message);
  }
}

/** Say beside the link why it leads nowhere. */
function refuse(button: HTMLButtonElement, words: string): void {
  const note = document.createElement('span');
  note.setAttribute('role', 'status');
  note.textContent = words;
  button.parentElement?.querySelector('[role="status"]')?.remove();
  button.parentElement?.prepend(note);
}
