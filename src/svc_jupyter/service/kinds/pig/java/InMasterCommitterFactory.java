package svc.jupyter.pig;

import java.io.IOException;

import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitterFactory;

/**
 * Saves the second that each task of a job in its master waits for permission to commit.
 *
 * <p>A task asks the master, which does not know yet that the task is done, and asks again a second later. Permission
 * decides between several attempts. In the master there is one at a time, so none is needed. Tasks elsewhere still ask.
 */
public final class InMasterCommitterFactory extends PathOutputCommitterFactory {
    private static final String IS_IN_MASTER = "mapreduce.task.uberized";

    @Override
    public PathOutputCommitter createOutputCommitter(Path output, TaskAttemptContext context) throws IOException {
        boolean isInMaster = context.getConfiguration().getBoolean(IS_IN_MASTER, false);
        return isInMaster ? new InMaster(output, context) : new FileOutputCommitter(output, context);
    }

    /** Commits when asked whether there is something to commit, and answers no. */
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
