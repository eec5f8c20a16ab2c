package svc.jupyter.pig;

import java.io.IOException;

import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitterFactory;

/**
 * Spares a job that runs in its master the second that each task waits for leave to commit.
 *
 * <p>A task asks the master, which does not know yet that it is done, and asks again a second later. The question is
 * which of several attempts may commit; in the master there is one at a time, so it need not be asked. Tasks elsewhere
 * ask as always.
 */
public final class InMasterCommitterFactory extends PathOutputCommitterFactory {
    private static final String IS_IN_MASTER = "mapreduce.task.uberized";

    @Override
    public PathOutputCommitter createOutputCommitter(Path output, TaskAttemptContext context) throws IOException {
        boolean isInMaster = context.getConfiguration().getBoolean(IS_IN_MASTER, false);
        return isInMaster ? new InMaster(output, context) : new FileOutputCommitter(output, context);
    }

    /** Commits when it is asked whether there is something to commit, and says that there is nothing any more. */
    private static final class InMaster extends FileOutputCommitter {
        InMaster(Path output, TaskAttemptContext context) throws IOException {
            super(output, context);
        }

        @Override
        public boolean needsTaskCommit(TaskAttemptContext context) throws IOException {
            if (super.needsTaskCommit(context)) {
                commitTask(context);
            }
            return false;
        }
    }
}
