import CoreData
import ExampleSupport
import GitHub
import WebTransport

/// Passes requests on to another transport, and keeps their addresses.
final class Recorder: Transport {
    private let transport: any Transport
    private let kept = Locked<[String]>([])

    init(_ transport: any Transport) { self.transport = transport }

    func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        kept.withLock { $0.append(String(request.url.dropFirst("https://api.github.com/".count))) }
        return try await transport.send(request, limits: limits)
    }

    /// Returns the addresses so far, after that of the service, and forgets them.
    func take() -> [String] {
        kept.withLock { urls in
            defer { urls = [] }
            return urls
        }
    }
}

/// A fetch request.
func fetch<Object: NSManagedObject>(_ type: Object.Type, _ format: String, _ arguments: Any..., by keys: String..., limit: Int = 0)
    -> NSFetchRequest<Object>
{
    let request = NSFetchRequest<Object>(entityName: "\(type)")
    request.predicate = NSPredicate(format: format, argumentArray: arguments)
    request.sortDescriptors = keys.map { key in
        key.hasPrefix("-")
            ? NSSortDescriptor(key: String(key.dropFirst()), ascending: false) : NSSortDescriptor(key: key, ascending: true)
    }
    request.fetchLimit = limit
    return request
}
