export { viewArea } from './area';
export { ISvcPanel, type ISection, type ISectionHandle } from './tokens';
export { VisibleView, VisibleWidget } from './visibleWidget';
