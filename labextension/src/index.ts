import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { clustersPlugin } from './clusters/plugin';
import { notesPlugin } from './contents/notesPlugin';
import { contentsPlugin } from './contents/plugin';
import { commandsPlugin } from './commands/plugin';
import { highlightingPlugin } from './highlighting/plugin';
import { leavingPlugin } from './leaving/plugin';
import { panelPlugin } from './panel/plugin';
import { schedulesPlugin } from './schedules/plugin';
import { schedulingPlugin } from './scheduling/plugin';
import { scheduleStatusPlugin } from './scheduling/statusPlugin';
import { servicePlugin } from './service/plugin';

/** Every feature is a separate plugin and can be disabled. */
const plugins: JupyterFrontEndPlugin<unknown>[] = [
  servicePlugin,
  panelPlugin,
  commandsPlugin,
  schedulesPlugin,
  schedulingPlugin,
  scheduleStatusPlugin,
  clustersPlugin,
  contentsPlugin,
  notesPlugin,
  highlightingPlugin,
  leavingPlugin
];

export default plugins;
