package svc.jupyter.pig;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.pig.backend.hadoop.datastorage.ConfigurationUtil;
import org.apache.pig.backend.hadoop.executionengine.mapReduceLayer.MapReduceOper;
import org.apache.pig.backend.hadoop.executionengine.mapReduceLayer.plans.MROperPlan;
import org.apache.pig.backend.hadoop.executionengine.physicalLayer.relationalOperators.POStore;
import org.apache.pig.backend.hadoop.executionengine.physicalLayer.util.PlanHelper;
import org.apache.pig.impl.PigContext;
import org.apache.pig.impl.plan.OperatorPlan;
import org.apache.pig.impl.plan.VisitorException;
import org.apache.pig.tools.pigstats.JobStats;
import org.apache.pig.tools.pigstats.OutputStats;
import org.apache.pig.tools.pigstats.PigProgressNotificationListener;

/**
 * Listens to Pig's progress and writes it to the attempt's folder at once.
 *
 * <p>{@code stores.json} names the outputs that the script creates, except those that existed before. After a killed run
 * exactly these may be removed.
 */
final class Watcher implements PigProgressNotificationListener {
    private final Job job;
    private final PigContext context;
    private final List<String> begun = new ArrayList<>();
    private final List<String> jobIds = new ArrayList<>();
    private final Map<String, Map<String, Object>> stored = new LinkedHashMap<>();
    /** The rows of a DUMP until they are written as a result. */
    private String dumped = "";
    private int launches;
    private int percent;
    private long rows;

    Watcher(Job job, PigContext context) {
        this.job = job;
        this.context = context;
    }

    /** What was stored: alias, location, rows and bytes. */
    List<Map<String, Object>> stored() {
        return new ArrayList<>(stored.values());
    }

    /** Treat what is stored there as a DUMP from now on. */
    synchronized void dumping(String place) {
        dumped = place;
    }

    private boolean isOutput(POStore store) {
        return !store.isTmpStore() && !store.getSFile().getFileName().equals(dumped);
    }

    synchronized void rows(long count) {
        rows = count;
        tell();
    }

    /** A run has ended: the progress of the next one is added. */
    synchronized void launched() {
        launches++;
        percent = 0;
        tell();
    }

    @Override
    public synchronized void initialPlanNotification(String scriptId, OperatorPlan<?> plan) {
        Configuration settings = ConfigurationUtil.toConfiguration(context.getProperties());
        try {
            int before = begun.size();
            for (MapReduceOper step : (MROperPlan) plan) {
                addNew(PlanHelper.getPhysicalOperators(step.mapPlan, POStore.class), settings);
                addNew(PlanHelper.getPhysicalOperators(step.reducePlan, POStore.class), settings);
            }
            if (begun.size() > before) {
                job.write("stores.json", begun);
            }
        } catch (VisitorException error) {
            throw new IllegalStateException(error);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private void addNew(List<POStore> stores, Configuration settings) throws IOException {
        for (POStore store : stores) {
            Path path = new Path(store.getSFile().getFileName());
            if (!isOutput(store) || path.toUri().getScheme() == null || !isFile(path, settings)) {
                continue;
            }
            FileSystem files = path.getFileSystem(settings);
            if (!files.exists(path)) {
                begun.add(files.makeQualified(path).toString());
            }
        }
    }

    /** Whether a location names a file: a store function may write elsewhere. */
    private static boolean isFile(Path path, Configuration settings) {
        try {
            path.getFileSystem(settings);
            return true;
        } catch (IOException noFileSystem) {
            return false;
        }
    }

    @Override
    public synchronized void jobStartedNotification(String scriptId, String jobId) {
        jobIds.add(jobId);
        try {
            job.write("jobs.json", jobIds);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        System.err.println(jobId + " started");
    }

    @Override
    public synchronized void jobFinishedNotification(String scriptId, JobStats stats) {
        System.err.println(stats.getJobId() + " done: " + about(stats));
    }

    @Override
    public synchronized void jobFailedNotification(String scriptId, JobStats stats) {
        System.err.println(stats.getJobId() + " failed: " + about(stats));
    }

    private static String about(JobStats stats) {
        String what = stats.getAlias() == null ? "" : stats.getAlias();
        String feature = stats.getFeature();
        if (feature != null && !feature.isEmpty()) {
            what += " (" + feature.replace(",", ", ") + ")";
        }
        long read = stats.getMapInputRecords();
        return read > 0 ? what + String.format(", %,d rows read", read) : what;
    }

    @Override
    public synchronized void outputCompletedNotification(String scriptId, OutputStats output) {
        POStore store = output.getPOStore();
        if (!output.isSuccessful() || store == null || !isOutput(store)) {
            return;
        }
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("alias", output.getAlias());
        told.put("location", output.getLocation());
        told.put("rows", output.getNumberRecords() < 0 ? null : output.getNumberRecords());
        told.put("bytes", bytesOf(output));
        stored.put(output.getLocation(), told);
    }

    /** Return the size of an output on disk, since Pig includes other bytes; null if it is not a file. */
    private Long bytesOf(OutputStats output) {
        try {
            Path path = new Path(output.getLocation());
            FileSystem files = path.getFileSystem(ConfigurationUtil.toConfiguration(context.getProperties()));
            return files.getContentSummary(path).getLength();
        } catch (IOException | IllegalArgumentException notAFile) {
            return null;
        }
    }

    @Override
    public synchronized void progressUpdatedNotification(String scriptId, int done) {
        percent = done;
        tell();
    }

    @Override
    public void launchStartedNotification(String scriptId, int jobs) {
        // The jobs themselves report this.
    }

    @Override
    public void jobsSubmittedNotification(String scriptId, int jobs) {
        // As above.
    }

    @Override
    public void launchCompletedNotification(String scriptId, int succeeded) {
        // The launcher reports this.
    }

    private void tell() {
        int all = Math.max(job.runs, launches + 1);
        int whole = (100 * launches + Math.min(percent, 100)) / all;
        try {
            Whole.replace(job.folder.resolve("progress"), Math.min(whole, 99) + (rows > 0 ? " " + rows : "") + "\n");
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
