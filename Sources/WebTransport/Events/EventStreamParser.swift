public import Foundation

/// An event in a stream of the type `text/event-stream`.
public struct ServerSentEvent: Hashable, Sendable {
    /// The name of the event; `message` if the service has given none.
    public var name: String
    /// The data; lines are separated by line feeds.
    public var data: String
    /// The last identifier in the stream, of this event or an earlier one; empty if there was none.
    public var lastID: String

    /// Creates an event.
    public init(name: String = "message", data: String, lastID: String = "") {
        self.name = name
        self.data = data
        self.lastID = lastID
    }
}

/// Parses a stream of events that arrives in arbitrary pieces.
///
/// An incomplete event at the end of the stream is dropped. Unknown fields are skipped, as the standard demands.
///
/// Source: [Server-sent events](https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream).
public struct EventStreamParser: Sendable {
    /// The error of an event or line whose size exceeds the limit.
    public struct TooLarge: LocalizedError, Hashable, Sendable {
        /// The error as text.
        public var errorDescription: String? { "An event of the stream has more bytes than the limit allows." }
    }

    /// The last identifier in the stream; empty if there was none.
    public private(set) var lastID = ""
    /// The time to wait before a new connection, in milliseconds; nil if the service has given none.
    public private(set) var retryMilliseconds: Int?

    private let maximumBytes: Int
    private var line: [UInt8] = []
    private var isFirstLine = true
    /// Whether the last byte was a carriage return. A following line feed then belongs to the same line end.
    private var endsInReturn = false
    private var name: [UInt8] = []
    private var data: [UInt8] = []
    private var id: String = ""

    /// Creates a parser.
    ///
    /// - Parameter maximumBytes: The maximum size of an event, in bytes.
    public init(maximumBytes: Int = 1 << 20) { self.maximumBytes = maximumBytes }

    /// Parses a piece of the stream, and returns the events that it completes.
    ///
    /// - Throws: ``TooLarge``. The stream cannot be parsed further after that.
    public mutating func read(_ piece: some Sequence<UInt8>) throws(TooLarge) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for byte in piece {
            let followsReturn = endsInReturn
            endsInReturn = byte == 0x0D
            switch byte {
            case 0x0A where followsReturn: continue
            case 0x0A, 0x0D: if let event = try endLine() { events.append(event) }
            default:
                line.append(byte)
                if line.count > maximumBytes { throw TooLarge() }
            }
        }
        return events
    }

    private mutating func endLine() throws(TooLarge) -> ServerSentEvent? {
        defer { line.removeAll(keepingCapacity: true) }
        if isFirstLine, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        isFirstLine = false
        if line.isEmpty { return endEvent() }
        let colon = line.firstIndex(of: 0x3A) ?? line.endIndex
        var value = line[min(colon + 1, line.endIndex)...]
        if value.first == 0x20 { value.removeFirst() }
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "data":
            data += value
            data.append(0x0A)
            if data.count > maximumBytes { throw TooLarge() }
        case "event": name = Array(value)
        case "id": if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        case "retry":
            if !value.isEmpty, value.allSatisfy({ 0x30...0x39 ~= $0 }) {
                retryMilliseconds = Int(String(decoding: value, as: UTF8.self)) ?? retryMilliseconds
            }
        default: break
        }
        return nil
    }

    private mutating func endEvent() -> ServerSentEvent? {
        defer {
            name = []
            data = []
        }
        lastID = id
        guard !data.isEmpty else { return nil }
        return ServerSentEvent(
            name: name.isEmpty ? "message" : String(decoding: name, as: UTF8.self), data: String(decoding: data.dropLast(), as: UTF8.self),
            lastID: lastID)
    }
}
