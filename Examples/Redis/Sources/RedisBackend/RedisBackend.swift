public import CoreData
internal import Foundation
public import RemoteStore

/// Objects in a Redis database: a backend that is no web service.
///
/// Each object is a hash, with a field for each attribute and to-one relationship; lists are sets or lists beside it, and sets and sorted
/// sets lead to it:
///
/// | key | type | contents |
/// | --- | --- | --- |
/// | `music:Album:7` | hash | the values, `#entity`, `#version` |
/// | `music:Album:7:tags` | set, or list of an ordered relationship | the destinations of a list |
/// | `music:Album` | set | the identifiers of all albums |
/// | `music:Album.band:1` | set | the albums whose `band` is 1 |
/// | `music:Album.year` | sorted set | the albums by an attribute that is indexed; those without a value at -inf |
/// | `music:Album#last` | counter | the last identifier |
///
/// A save is a transaction (`WATCH`, `MULTI`, `EXEC`): what others have changed since it was read is a conflict for the merge policy of the
/// context.
///
/// ```swift
/// let backend = RedisBackend(model: model, prefix: "music", indexes: ["Album": ["year"]])
/// try coordinator.addRemoteStore(backend)
/// ```
public struct RedisBackend: Backend {
    /// The address of the server, and the prefix as its path.
    public let location: URL
    /// What Redis can do with each entity of the model.
    public let resources: [Resource]

    let schema: RedisSchema
    /// Readers take turns on these connections.
    private let readers: [RedisConnection]
    private let turn = Turn()
    /// Saves have one of their own: keys are watched by connections.
    let writer: RedisConnection

    static let pageSize = 200

    /// Creates a backend. Connections are opened when they are needed.
    ///
    /// - Parameters:
    ///   - model: The model, whose entities are kept.
    ///   - host: The server.
    ///   - port: Its port.
    ///   - prefix: What the names of all keys begin with.
    ///   - indexes: The names of the number and date attributes that sorted sets are kept for, by entity. They can be asked for by range and
    ///     order. It must be the same for as long as the data lives.
    ///   - timeout: The maximum number of seconds for an answer.
    public init(
        model: NSManagedObjectModel, host: String = "127.0.0.1", port: Int = 6379, prefix: String, indexes: [String: Set<String>] = [:],
        timeout: Double = 10
    ) {
        var address = URLComponents()
        address.scheme = "redis"
        address.host = host
        address.port = port
        address.path = "/\(prefix)"
        location = address.url ?? URL(fileURLWithPath: prefix)
        let schema = RedisSchema(model, prefix: prefix, indexes: indexes)
        self.schema = schema
        resources = schema.entities.values.sorted { $0.name < $1.name }.map(Self.resource)
        readers = (0..<4).map { _ in RedisConnection(host: host, port: port, timeout: timeout) }
        writer = RedisConnection(host: host, port: port, timeout: timeout)
    }

    var reader: RedisConnection { readers[turn.next(of: readers.count)] }

    /// The endpoints of an entity.
    private static func resource(_ entity: RedisSchema.Entity) -> Resource {
        // Hashes are read whole, with the lists beside them.
        let properties = entity.properties
        var endpoints = [
            Endpoint(
                "hashes", parameters: [Parameter("SELF", isRequired: true, maximumValues: 500)], properties: properties,
                cost: .init(row: 0.002)),
            Endpoint("all", paging: .pages(of: pageSize), counts: true, properties: properties),
        ]
        for link in entity.links {
            endpoints.append(
                Endpoint(
                    "by \(link.name)",
                    parameters: [
                        Parameter(link.isList ? "ANY \(link.name)" : link.name, name: "to", isRequired: true, maximumValues: 500)
                    ], properties: properties, cost: .init(expectedRows: 20)))
        }
        for attribute in entity.attributes where attribute.isIndexed {
            endpoints.append(
                Endpoint(
                    "sorted by \(attribute.name)",
                    parameters: [
                        Parameter(
                            attribute.name, name: "from",
                            operators: [.equal, .greaterThan, .greaterThanOrEqual, .isNil, .isNotNil]),
                        Parameter(attribute.name, name: "to", operators: [.lessThan, .lessThanOrEqual]),
                    ],
                    sorting: Sorting([.init(attribute.name)]), paging: .pages(of: pageSize, takesLimit: true, takesOffset: true),
                    counts: true, properties: properties))
        }
        return Resource(
            entity.name, endpoints: endpoints,
            saving: .init(
                identity: .assignedByBackend, lists: Set(entity.links.filter(\.isList).map(\.name)), maximumChanges: 500,
                conflicts: .backend, isIdempotent: true))
    }

    /// Counts whose turn it is.
    // Unchecked: `lock` guards `number`.
    private final class Turn: @unchecked Sendable {
        private let lock = NSLock()
        private var number = 0

        func next(of count: Int) -> Int {
            lock.withLock {
                number = (number + 1) % count
                return number
            }
        }
    }
}
