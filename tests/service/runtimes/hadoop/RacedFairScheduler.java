package svc.jupyter;

import java.lang.reflect.Field;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.api.records.SchedulingRequest;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.Allocation;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ContainerUpdates;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeUpdateSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FSAppAttempt;

/**
 * Lets another thread work on a heartbeat of each node at the worst moment of every request: in {@code
 * FairScheduler.allocate}, when the request is noted and its containers are not taken yet. There it reads which
 * containers of the application are to be preempted.
 */
public class RacedFairScheduler extends LosslessFairScheduler {
  private static final long MILLISECONDS = 10_000;

  @Override
  public Allocation allocate(
      ApplicationAttemptId id,
      List<ResourceRequest> ask,
      List<SchedulingRequest> schedulingRequests,
      List<ContainerId> release,
      List<String> blacklistAdditions,
      List<String> blacklistRemovals,
      ContainerUpdates updates) {
    if (!ask.isEmpty()) {
      replacePreempted(getSchedulerApp(id));
    }
    return super.allocate(id, ask, schedulingRequests, release, blacklistAdditions, blacklistRemovals, updates);
  }

  private void replacePreempted(FSAppAttempt attempt) {
    try {
      Field field = FSAppAttempt.class.getDeclaredField("containersToBePreempted");
      field.setAccessible(true);
      field.set(
          attempt,
          new HashSet<RMContainer>() {
            @Override
            public Iterator<RMContainer> iterator() {
              heartbeatsOfAnotherThread();
              return super.iterator();
            }
          });
    } catch (ReflectiveOperationException error) {
      throw new LinkageError("another FSAppAttempt", error);
    }
  }

  private void heartbeatsOfAnotherThread() {
    Thread other = new Thread(this::heartbeats);
    other.start();
    try {
      other.join(MILLISECONDS);
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
    }
  }

  private void heartbeats() {
    update();
    for (RMNode node : rmContext.getRMNodes().values()) {
      handle(new NodeUpdateSchedulerEvent(node));
    }
  }
}
