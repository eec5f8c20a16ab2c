package svc.jupyter.pig;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

import org.apache.pig.PigException;
import org.apache.pig.PigServer;
import org.apache.pig.backend.executionengine.ExecJob;
import org.apache.pig.data.Tuple;
import org.apache.pig.impl.PigContext;
import org.apache.pig.impl.io.FileLocalizer;
import org.apache.pig.impl.logicalLayer.FrontendException;
import org.apache.pig.impl.util.Utils;
import org.apache.pig.tools.pigstats.OutputStats;
import org.apache.pig.tools.pigstats.PigStats;

/** Pig, but DUMP writes typed rows to files, and REGISTER reads from the account's storage. */
final class Server extends PigServer {
    /** The file while rows are written; in the end the complete rows of the last DUMP. */
    private static final String GROWING = "result.arrow.part";

    private final Job job;
    private final Watcher watcher;
    private final List<Dump> dumps = new ArrayList<>();

    Server(Job job, PigContext context, Watcher watcher) throws IOException {
        super(context);
        this.job = job;
        this.watcher = watcher;
    }

    /** Move the last DUMP's rows to the result; return the description of each DUMP, in order. */
    List<Map<String, Object>> finishDumps() throws IOException {
        List<Map<String, Object>> told = new ArrayList<>();
        for (int number = 1; number <= dumps.size(); number++) {
            Path file = file(number);
            if (number == dumps.size()) {
                file = Files.move(file, job.folder.resolve("result.arrow"));
            }
            told.add(dumps.get(number - 1).summary(file));
        }
        return told;
    }

    private Path file(int number) {
        return job.folder.resolve("dump-" + number + ".arrow");
    }

    @Override
    public List<ExecJob> executeBatch() throws IOException {
        if (isBatchEmpty()) {
            return super.executeBatch();
        }
        List<ExecJob> jobs = super.executeBatch();
        if (!PigStats.get().isSuccessful()) {
            throw new RunFailed("the script failed");
        }
        watcher.launched();
        return jobs;
    }

    /** Run a DUMP and keep its rows, instead of printing them. */
    @Override
    public Iterator<Tuple> openIterator(String alias) throws IOException {
        String place = FileLocalizer.getTemporaryPath(getPigContext()).toString();
        watcher.dumping(place);
        ExecJob run = store(alias, place, Utils.getTmpFileCompressorName(getPigContext()) + "()");
        if (run.getStatus() != ExecJob.JOB_STATUS.COMPLETED) {
            throw new RunFailed("DUMP " + alias + " failed");
        }
        OutputStats output = PigStats.get().getOutputStats().get(0);
        Shape shape = Shape.ofRows(output.getPOStore().getSchema());
        Path growing = job.folder.resolve(GROWING);
        Dump dump = new Dump(alias, shape, growing, job.minFreeBytes, watcher::rows);
        dump.write(run::getResults);
        dumps.add(dump);
        Files.move(growing, file(dumps.size()));
        watcher.launched();
        return Collections.emptyIterator();
    }

    @Override
    public void registerJar(String name) throws IOException {
        super.registerJar(located(name));
    }

    @Override
    public void registerCode(String path, String language, String namespace) throws IOException {
        if (language != null && language.equalsIgnoreCase("jython")) {
            throw new FrontendException("REGISTER " + path + " USING jython: Jython is not part of this service; "
                + "use streaming_python, which runs the function in Python 3", 4010, PigException.USER_ENVIRONMENT);
        }
        super.registerCode(located(path), language, namespace);
    }

    /** Return the local path of a file that the script registers: fetched, in the storage, or as written. */
    private String located(String name) {
        if (job == null) {
            return name; // a jar of the settings, registered while the parent is made
        }
        if (job.fetched.containsKey(name)) {
            return job.fetched.get(name);
        }
        String path = name.startsWith("file:") ? Path.of(java.net.URI.create(name).getPath()).toString() : name;
        if (job.storage.startsWith("file:") && !new File(path).isAbsolute()) {
            Path inStorage = Path.of(java.net.URI.create(job.storage)).resolve(path);
            if (Files.exists(inStorage) || path.contains("*")) {
                return inStorage.toString();
            }
        }
        return path;
    }

    /** A run of jobs failed; Pig's statistics contain the reason. */
    static final class RunFailed extends IOException {
        private static final long serialVersionUID = 1L;

        RunFailed(String message) {
            super(message);
        }
    }
}
