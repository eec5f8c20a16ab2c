import type { INotebookTracker } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';
import { withFirstNotebook } from './openNotebooks';

describe('withFirstNotebook', () => {
  const trackerOf = (size: number) => {
    const owner = {};
    const widgetAdded = new Signal<object, void>(owner);
    const tracker = { size, widgetAdded } as unknown as INotebookTracker;
    return { tracker, add: () => widgetAdded.emit() };
  };

  it('waits for a notebook, and takes the first one only', () => {
    const step = jest.fn();
    const { tracker, add } = trackerOf(0);
    withFirstNotebook(tracker, step);
    expect(step).not.toHaveBeenCalled();
    add();
    add();
    expect(step).toHaveBeenCalledTimes(1);
  });

  it('does not wait where there is a notebook, and does it once there, too', () => {
    const step = jest.fn();
    const { tracker, add } = trackerOf(1);
    withFirstNotebook(tracker, step);
    add();
    expect(step).toHaveBeenCalledTimes(1);
  });
});
