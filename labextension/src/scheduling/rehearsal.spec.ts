import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { ScheduleCalls } from '../schedules/calls';
import type { ISvcSchedules } from '../schedules/tokens';
import type { ServiceRequests } from '../service';
import { rehearseForm } from './rehearsal';

describe('a rehearsal of the form', () => {
  const request = jest.fn(() => Promise.reject(new Error('there is nobody to ask')));
  const requests = {
    get: request,
    post: request,
    put: request,
    json: request,
    send: request
  } as unknown as ServiceRequests;
  const rehearse = (): void =>
    rehearseForm({
      requests,
      schedules: { calls: new ScheduleCalls(requests) } as unknown as ISvcSchedules,
      commands: new CommandRegistry(),
      trans: nullTranslator.load('svc_jupyter'),
      rename: () => undefined
    });
  const drawn: string[] = [];

  // As in a page: without React's act() environment.
  beforeAll(() => Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: false }));
  afterAll(() => Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true }));

  beforeEach(() => {
    jest.useFakeTimers();
    jest.spyOn(console, 'error');
    jest.spyOn(document, 'hidden', 'get').mockReturnValue(false);
    jest.spyOn(Element.prototype, 'getBoundingClientRect').mockImplementation(function (
      this: Element
    ) {
      drawn.push(this.textContent);
      return new DOMRect();
    });
  });
  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
    drawn.length = 0;
  });

  it('has the whole form drawn', () => {
    rehearse();
    expect(drawn).toEqual([expect.stringMatching(/Cron expression.*Notifications.*Run once now/)]);
  });

  it('asks nobody for anything, and leaves nothing in the page', async () => {
    const before = document.body.innerHTML;
    const focused = document.activeElement;
    rehearse();
    expect(document.body.innerHTML).toBe(before);
    expect(document.activeElement).toBe(focused);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(document.body.innerHTML).toBe(before);
    expect(request).not.toHaveBeenCalled();
    expect(console.error).not.toHaveBeenCalled();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('takes its stage away when drawing fails', () => {
    jest.spyOn(Element.prototype, 'getBoundingClientRect').mockImplementation(() => {
      throw new Error('no layout');
    });
    expect(rehearse).toThrow('no layout');
    expect(document.querySelector('.jp-SvcForm-rehearsal, .jp-SvcForm')).toBeNull();
  });
});
