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
