import { Clipboard } from '@jupyterlab/apputils';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { TranslationBundle } from '@jupyterlab/translation';
import { HTMLSelect } from '@jupyterlab/ui-components';
import { Debouncer } from '@lumino/polling';
import { type JSX, useEffect, useId, useRef, useState } from 'react';
import { asServiceError } from '../service';
import { TextButton } from './columnPanel';
import { useResult } from './hooks';
import { isUnsupported, type ResultModel } from './model';
import { plotCode } from './plotCode';
import {
  canBeAcross,
  defaultPlot,
  type IPlot,
  type IPlotData,
  ofKind,
  type PlotKind,
  plotKinds,
  plotSpec,
  readPlot
} from './plotSpec';
import { type IColumn, isNumber } from './values';

/** Milliseconds after the last change of size when a chart is drawn again. */
const REDRAWN = 100;
const VEGA_LITE = 'application/vnd.vegalite.v5+json';

interface IPlotPanelProps {
  model: ResultModel;
  columns: readonly IColumn[];
  rendermime: IRenderMimeRegistry;
  /** Called with what the plot shows, in words. */
  onShown: (words: string) => void;
  /** Called with what was done, in words. */
  onDone: (words: string) => void;
  trans: TranslationBundle;
}

/** A line, bar, histogram or scatter chart of all rows, drawn by JupyterLab's own Vega renderer. */
export function PlotPanel(props: IPlotPanelProps): JSX.Element {
  const { model, columns, onShown, onDone, trans } = props;
  const { shown } = useResult(model);
  const [plot, setPlot] = useState<IPlot>(() => defaultPlot(columns));
  const [data, setData] = useState<IPlotData | null>(null);
  const [problem, setProblem] = useState('');

  useEffect(() => {
    const reading = new AbortController();
    readPlot(model, plot, reading.signal, trans).then(
      found => {
        if (!reading.signal.aborted) {
          setProblem('');
          setData(found);
          onShown(found.words);
        }
      },
      (reason: unknown) => {
        if (!reading.signal.aborted) {
          const error = asServiceError(reason);
          setProblem(
            isUnsupported(error)
              ? trans.__('This service makes no charts of results. Plot the data in a cell.')
              : error.message
          );
        }
      }
    );
    return () => reading.abort();
  }, [model, plot, shown, onShown, trans]);

  const measures = columns.filter(({ type }) => isNumber(type));
  const words = {
    line: trans.__('Line'),
    bar: trans.__('Bar'),
    histogram: trans.__('Histogram'),
    scatter: trans.__('Scatter')
  };
  const isHistogram = plot.kind === 'histogram';
  const choose = (part: Partial<IPlot>): void => setPlot({ ...plot, ...part });
  const copy = (): void => {
    Clipboard.copyToSystem(plotCode(plot, shown, model.codeWords));
    onDone(trans.__('copied: paste it into a cell'));
  };
  return (
    <div className="jp-SvcResult-plot">
      <div className="jp-SvcResult-axes">
        <Choice
          label={trans.__('Chart')}
          value={plot.kind}
          options={plotKinds(columns).map(kind => [kind, words[kind]])}
          choose={kind => setPlot(ofKind(plot, kind as PlotKind, columns))}
        />
        <Choice
          label={isHistogram ? trans.__('Column') : trans.__('Across')}
          value={plot.x}
          options={columns
            .filter(column => canBeAcross(plot.kind, column))
            .map(({ name }) => [name, name])}
          choose={x => choose({ x })}
        />
        {!isHistogram && (
          <Choice
            label={trans.__('Up')}
            value={plot.y}
            options={measures.map(({ name }) => [name, name])}
            choose={y => choose({ y })}
          />
        )}
        <span className="jp-SvcResult-grow" />
        <TextButton
          label={trans.__('Copy code')}
          title={trans.__(
            'Copy the line that draws this chart in a cell, where the notebook keeps it'
          )}
          onClick={copy}
        />
      </div>
      {problem !== '' ? (
        <p role="alert">{problem}</p>
      ) : (
        data !== null && <Chart {...props} data={data} />
      )}
    </div>
  );
}

function Choice(props: {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  choose: (value: string) => void;
}): JSX.Element {
  const id = useId();
  return (
    <span>
      <label htmlFor={id}>{props.label}</label>
      <HTMLSelect
        id={id}
        value={props.value}
        onChange={event => props.choose(event.target.value)}
        options={props.options.map(([value, label]) => ({ value, label }))}
      />
    </span>
  );
}

function Chart(props: IPlotPanelProps & { data: IPlotData }): JSX.Element {
  const { rendermime, data, trans } = props;
  const host = useRef<HTMLDivElement>(null);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    const node = host.current;
    if (node === null) {
      return;
    }
    if (!rendermime.mimeTypes.includes(VEGA_LITE)) {
      setProblem(trans.__('JupyterLab’s renderer of charts (Vega) is switched off.'));
      return;
    }
    const renderer = rendermime.createRenderer(VEGA_LITE);
    // Lumino takes a widget out of the page only while it is there, and React may have removed it before.
    node.append(renderer.node);
    const draw = (): void => {
      const spec = plotSpec(data, node.clientWidth, node.clientHeight, trans);
      renderer
        .renderModel(rendermime.createModel({ data: { [VEGA_LITE]: spec } }))
        .catch((reason: unknown) => setProblem(asServiceError(reason).message));
    };
    // The renderer takes the size and the theme's colours once, when it draws.
    const drawing = new Debouncer(draw, REDRAWN);
    const sized = new ResizeObserver(() => void drawing.invoke());
    const themed = new MutationObserver(() => void drawing.invoke());
    draw();
    sized.observe(node);
    themed.observe(document.body, { attributeFilter: ['data-jp-theme-name'] });
    return () => {
      sized.disconnect();
      themed.disconnect();
      drawing.dispose();
      renderer.dispose();
      renderer.node.remove();
    };
  }, [rendermime, data, trans]);
  return (
    <div ref={host} className="jp-SvcResult-chart" role="img" aria-label={data.words}>
      {problem !== '' && <p role="alert">{problem}</p>}
    </div>
  );
}
