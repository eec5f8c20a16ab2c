import java.io.IOException;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.NLineInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * A MapReduce job that takes time: a map for each line of the input sleeps as long as the line says, in milliseconds,
 * and one reduce writes which attempt did each line.
 */
public class SleepJob extends Configured implements Tool {
  public static class SleepMapper extends Mapper<LongWritable, Text, Text, Text> {
    @Override
    protected void map(LongWritable offset, Text line, Context context) throws IOException, InterruptedException {
      String[] words = line.toString().trim().split(" ");
      Thread.sleep(Long.parseLong(words[1]));
      context.write(new Text(words[0]), new Text(context.getTaskAttemptID().toString()));
    }
  }

  public static class ListReducer extends Reducer<Text, Text, Text, Text> {
    @Override
    protected void reduce(Text key, Iterable<Text> attempts, Context context)
        throws IOException, InterruptedException {
      for (Text attempt : attempts) {
        context.write(key, attempt);
      }
    }
  }

  @Override
  public int run(String[] arguments) throws Exception {
    Job job = Job.getInstance(getConf(), "sleep job");
    job.setJarByClass(SleepJob.class);
    job.setMapperClass(SleepMapper.class);
    job.setReducerClass(ListReducer.class);
    job.setInputFormatClass(NLineInputFormat.class);
    NLineInputFormat.setNumLinesPerSplit(job, 1);
    NLineInputFormat.addInputPath(job, new Path(arguments[0]));
    FileOutputFormat.setOutputPath(job, new Path(arguments[1]));
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(Text.class);
    job.setNumReduceTasks(1);
    return job.waitForCompletion(true) ? 0 : 1;
  }

  public static void main(String[] arguments) throws Exception {
    System.exit(ToolRunner.run(new SleepJob(), arguments));
  }
}
