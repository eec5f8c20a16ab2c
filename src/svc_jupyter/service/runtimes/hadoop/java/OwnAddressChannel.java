package sun.nio.ch;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.spi.SelectorProvider;

/**
 * A listening channel that binds to the node's own address instead of all addresses: the one of the property {@code
 * svc.address}, or in a container the NodeManager's, from YARN's variable {@code NM_HOST}.
 */
public final class OwnAddressChannel extends ServerSocketChannelImpl {
  OwnAddressChannel(SelectorProvider provider) throws IOException {
    super(provider);
  }

  @Override
  public ServerSocketChannel bind(SocketAddress local, int backlog) throws IOException {
    return super.bind(ownAddress(local), backlog);
  }

  private static SocketAddress ownAddress(SocketAddress local) throws IOException {
    if (local != null && !(local instanceof InetSocketAddress)) {
      return local;
    }
    InetSocketAddress asked = local == null ? new InetSocketAddress(0) : (InetSocketAddress) local;
    String own = System.getProperty("svc.address", System.getenv("NM_HOST"));
    if (own == null || asked.isUnresolved() || !asked.getAddress().isAnyLocalAddress()) {
      return asked;
    }
    return new InetSocketAddress(InetAddress.getByName(own), asked.getPort());
  }
}
