import type { IRenderMime } from '@jupyterlab/rendermime';
import { nullTranslator } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { RESULT_MIME, STATUS_MIME } from './bundle';
import type { IOutputContext } from './outputContext';
import { OutputRenderer } from './renderer';

const CREATED_AT = '2026-11-28T05:50:24Z';

/** As Lab's renderer of HTML, which takes a moment, more for the words of `slow`. */
class Html extends Widget {
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const html = model.data['text/html'] as string;
    for (let turn = 0; turn < (html.includes('slow') ? 50 : 5); turn++) {
      await Promise.resolve();
    }
    this.node.innerHTML = html;
  }
}

const context = {
  requests: { get: () => new Promise(() => undefined), send: () => new Promise(() => undefined) },
  rendermime: { createRenderer: () => new Html() },
  commands: { hasCommand: () => true },
  trans: nullTranslator.load('')
} as unknown as IOutputContext;

function line(words: string, status: string, command = 12): IRenderMime.IMimeModel {
  const html =
    `<div class="svc-status"><span class="svc-status-text">${words}</span>` +
    '<span class="svc-status-links"></span></div>';
  const data = { version: 1, command, created_at: CREATED_AT, status };
  return {
    data: { 'text/html': html, 'text/plain': words, [STATUS_MIME]: data }
  } as unknown as IRenderMime.IMimeModel;
}

function renderer(mimeType = STATUS_MIME): OutputRenderer {
  return new OutputRenderer(context, { mimeType } as IRenderMime.IRendererOptions);
}

function text(output: OutputRenderer): string | undefined {
  return output.node.querySelector('.svc-status-text')?.textContent;
}

const isFollowing = (output: OutputRenderer): boolean =>
  output.widgets.some(widget => widget.hasClass('jp-SvcFollowed'));

describe('the output of a command', () => {
  beforeAll(async () => {
    await Promise.all([import('./output'), import('./followed')]);
  });
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('keeps its links while the words change, so that a press on one is not lost', async () => {
    const output = renderer();
    await output.renderModel(line('4 s', 'running'));
    const link = output.node.querySelector('button');
    expect(link?.textContent).toBe('Log');
    await output.renderModel(line('5 s', 'running'));
    expect(text(output)).toBe('5 s');
    expect(output.node.querySelector('button')).toBe(link);
    output.dispose();
  });

  it('shows the last words, also if earlier ones take longer', async () => {
    const output = renderer();
    const slow = output.renderModel(line('slow', 'running'));
    await output.renderModel(line('done', 'done'));
    await slow;
    expect(text(output)).toBe('done');
    output.dispose();
  });

  it('follows the command once the kernel is silent, and not before', async () => {
    const output = renderer();
    for (let second = 0; second < 10; second++) {
      await output.renderModel(line(`${second} s`, 'running'));
      await jest.advanceTimersByTimeAsync(1_000);
    }
    expect(isFollowing(output)).toBe(false);
    await jest.advanceTimersByTimeAsync(3_000);
    expect(isFollowing(output)).toBe(true);
    await output.renderModel(line('11 s', 'running'));
    expect(isFollowing(output)).toBe(true);
    await output.renderModel(line('the end', 'done'));
    expect(text(output)).toBe('the end');
    expect(isFollowing(output)).toBe(false);
    output.dispose();
  });

  it('belongs to the command of the latest words', async () => {
    const output = renderer();
    await output.renderModel(line('first', 'running'));
    await jest.advanceTimersByTimeAsync(3_000);
    expect(isFollowing(output)).toBe(true);
    await output.renderModel(line('second', 'running', 13));
    expect(text(output)).toBe('second');
    output.dispose();
  });

  it('is left to the kernel that saw the end', async () => {
    const output = renderer();
    await output.renderModel(line('done', 'done'));
    await jest.advanceTimersByTimeAsync(10_000);
    expect(isFollowing(output)).toBe(false);
    output.dispose();
  });

  it('shows the rows of a line that was completed without a kernel', async () => {
    const output = renderer();
    const model = line('done', 'done');
    Object.assign(model.data[STATUS_MIME] as object, { followed: true });
    await output.renderModel(model);
    await jest.advanceTimersByTimeAsync(0);
    expect(isFollowing(output)).toBe(true);
    output.dispose();
  });

  it('has links in place of the log that unfolds elsewhere', async () => {
    const output = renderer();
    const model = line('done', 'done');
    const html = model.data['text/html'] as string;
    const fold = '<details class="svc-status-fold"><summary>Log</summary></details>';
    Object.assign(model.data, { 'text/html': `${html}${fold}` });
    await output.renderModel(model);
    expect(output.node.querySelector('details')).toBeNull();
    expect([...output.node.querySelectorAll('button')].map(link => link.textContent)).toEqual([
      'Log',
      'Open'
    ]);
    output.dispose();
  });

  it('is plain where the output names no command', async () => {
    const output = renderer(RESULT_MIME);
    const html = '<div class="svc-status"><span class="svc-status-text">a table</span></div>';
    await output.renderModel({ data: { 'text/html': html } } as never);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(text(output)).toBe('a table');
    output.dispose();
  });
});
