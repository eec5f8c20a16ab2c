import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { ServiceRequests } from '../service';

/** What outputs use of the application. */
export interface IOutputContext {
  readonly requests: ServiceRequests;
  readonly rendermime: IRenderMimeRegistry;
  readonly commands: CommandRegistry;
  readonly trans: TranslationBundle;
}
