import { LabIcon } from '@jupyterlab/ui-components';

const FACE =
  '<circle class="jp-SvcIcon-stroke" cx="12" cy="12" r="8.5" fill="none" stroke="#616161" stroke-width="2"/>';
const HANDS =
  '<path class="jp-SvcIcon-stroke" d="M12 7v5l3.5 2" fill="none" stroke="#616161" stroke-width="2"/>';
const FULL_FACE = '<circle class="jp-icon3" cx="12" cy="12" r="9.5" fill="#616161"/>';
const LIGHT_HANDS =
  '<path class="jp-SvcIcon-inverse" d="M12 7v5l3.5 2" fill="none" stroke="#fff" stroke-width="2"/>';

function svg(...parts: string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 24 24">${parts.join('')}</svg>`;
}

/** A clock: the notebook can be scheduled. */
export const scheduleIcon = new LabIcon({
  name: 'svc-jupyter:schedule',
  svgstr: svg(FACE, HANDS)
});

/** The same clock filled: the notebook is scheduled. */
export const scheduledIcon = new LabIcon({
  name: 'svc-jupyter:scheduled',
  svgstr: svg(FULL_FACE, LIGHT_HANDS)
});

const SERVERS = [3, 10, 17]
  .map(y => `<rect class="jp-icon3" x="3" y="${y}" width="18" height="5" rx="1" fill="#616161"/>`)
  .join('');

/** Stacked machines: a cluster. */
export const clusterIcon = new LabIcon({
  name: 'svc-jupyter:cluster',
  svgstr: svg(SERVERS)
});

/** An arrow into a folder: move an item. */
export const moveIcon = new LabIcon({
  name: 'svc-jupyter:move',
  svgstr: svg(
    '<path class="jp-icon3" fill="#616161" d="M20 6h-8l-2-2H4a2 2 0 0 0-2 2v12a2 2 0 0 0 2 2h16a2 2 0 0 0 2-2V8a2 2 0 0 0-2-2zm-7 11v-3H8v-2h5V9l5 4z"/>'
  )
});

const BARS = [
  [3, 5, 9],
  [8, 10, 12],
  [5, 15, 7]
]
  .map(
    ([x, y, width]) =>
      `<rect class="jp-icon3" x="${x}" y="${y}" width="${width}" height="3.5" rx="1" fill="#616161"/>`
  )
  .join('');

/** Bars of a timeline: the runs of all schedules. */
export const runsIcon = new LabIcon({ name: 'svc-jupyter:runs', svgstr: svg(BARS) });

/** A cylinder: a database. */
export const dataIcon = new LabIcon({
  name: 'svc-jupyter:data',
  svgstr: svg(
    '<path class="jp-icon3" fill="#616161" d="M12 2C7.6 2 4 3.6 4 5.5v13C4 20.4 7.6 22 12 22s8-1.6 8-3.5v-13C20 3.6 16.4 2 12 2zm6 6.6v3c-.9.9-3.3 1.8-6 1.8s-5.1-.9-6-1.8v-3C7.5 9.5 9.6 10 12 10s4.5-.5 6-1.4zM12 20c-2.7 0-5.1-.9-6-1.7v-3.6c1.5.9 3.6 1.4 6 1.4s4.5-.5 6-1.4v3.6c-.9.8-3.3 1.7-6 1.7z"/>'
  )
});

/** A triangle above a line: run it in the service, where it outlives the page. */
export const runAsJobIcon = new LabIcon({
  name: 'svc-jupyter:run-as-job',
  svgstr: svg('<path class="jp-icon3" fill="#616161" d="M8 3v12l10-6zM4 18h16v2.5H4z"/>')
});
