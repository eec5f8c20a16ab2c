import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { checkingPlugin } from './checking/plugin';
import { clustersPlugin } from './clusters/plugin';
import { contentsPlugin } from './contents/plugin';
import { dataPlugin } from './data/plugin';
import { commandsPlugin } from './commands/plugin';
import { formattingPlugin } from './formatting/plugin';
import { highlightingPlugin } from './highlighting/plugin';
import { leavingPlugin } from './leaving/plugin';
import { notesPlugin } from './notes/plugin';
import { outputsPlugin } from './outputs/plugin';
import { panelPlugin } from './panel/plugin';
import { runsPlugin } from './runs/plugin';
import { schedulesPlugin } from './schedules/plugin';
import { schedulingPlugin } from './scheduling/plugin';
import { scheduleStatusPlugin } from './scheduling/statusPlugin';
import { servicePlugin } from './service/plugin';

/** Every feature is a separate plugin and can be disabled. */
const plugins: JupyterFrontEndPlugin<unknown>[] = [
  servicePlugin,
  panelPlugin,
  commandsPlugin,
  outputsPlugin,
  schedulesPlugin,
  runsPlugin,
  schedulingPlugin,
  scheduleStatusPlugin,
  clustersPlugin,
  dataPlugin,
  contentsPlugin,
  notesPlugin,
  highlightingPlugin,
  formattingPlugin,
  checkingPlugin,
  leavingPlugin
];

export default plugins;
