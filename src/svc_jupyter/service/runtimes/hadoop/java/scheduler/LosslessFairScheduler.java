package svc.jupyter;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.api.records.SchedulingRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.Allocation;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ContainerUpdates;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppAttemptRemovedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FSAppAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler;

/**
 * Hadoop's FairScheduler, which loses no container of an application's master.
 *
 * <p>{@code allocate} notes a request, lets go of the application's lock, and then takes the containers that are there.
 * When another thread works on a node's heartbeat between the two, the answer to the request for the master has its
 * container already. The attempt, which expects none in this answer, drops it; it asks again when the container is
 * announced, gets nothing, and asks twice a second from then on: the application stays ACCEPTED. Here, this second call
 * gets the answer that was dropped. Nothing is locked for it: the attempt calls with its own lock held, and the
 * scheduler's thread may wait for that one.
 */
public class LosslessFairScheduler extends FairScheduler {
  private final Map<ApplicationAttemptId, Allocation> dropped = new ConcurrentHashMap<>();

  @Override
  public Allocation allocate(
      ApplicationAttemptId id,
      List<ResourceRequest> ask,
      List<SchedulingRequest> schedulingRequests,
      List<ContainerId> release,
      List<String> blacklistAdditions,
      List<String> blacklistRemovals,
      ContainerUpdates updates) {
    Allocation allocation =
        super.allocate(id, ask, schedulingRequests, release, blacklistAdditions, blacklistRemovals, updates);
    if (!ask.isEmpty()) {
      if (!allocation.getContainers().isEmpty() && waitsForMaster(id)) {
        dropped.put(id, allocation);
      }
      return allocation;
    }
    Allocation earlier = dropped.remove(id);
    return earlier == null ? allocation : earlier;
  }

  @Override
  public void handle(SchedulerEvent event) {
    super.handle(event);
    if (event instanceof AppAttemptRemovedSchedulerEvent) {
      dropped.remove(((AppAttemptRemovedSchedulerEvent) event).getApplicationAttemptID());
    }
  }

  private boolean waitsForMaster(ApplicationAttemptId id) {
    FSAppAttempt attempt = getSchedulerApp(id);
    return attempt != null && attempt.isWaitingForAMContainer();
  }
}
