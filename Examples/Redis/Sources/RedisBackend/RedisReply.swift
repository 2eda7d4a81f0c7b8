internal import CHiredis
internal import Foundation

/// An answer of the server, copied from hiredis.
enum RedisReply: Sendable {
    case none
    case integer(Int64)
    case bytes(Data)
    case status(String)
    case error(String)
    case array([RedisReply])

    /// Copies a reply, which stays the caller's.
    init(_ reply: redisReply) {
        switch reply.type {
        case REDIS_REPLY_INTEGER: self = .integer(reply.integer)
        case REDIS_REPLY_STRING: self = .bytes(Self.data(reply))
        case REDIS_REPLY_STATUS: self = .status(String(decoding: Self.data(reply), as: UTF8.self))
        case REDIS_REPLY_ERROR: self = .error(String(decoding: Self.data(reply), as: UTF8.self))
        case REDIS_REPLY_ARRAY:
            self = .array((0..<reply.elements).map { index in reply.element[index].map { RedisReply($0.pointee) } ?? .none })
        default: self = .none
        }
    }

    private static func data(_ reply: redisReply) -> Data { reply.str.map { Data(bytes: $0, count: reply.len) } ?? Data() }

    var bytes: Data? { if case .bytes(let bytes) = self { bytes } else { nil } }
    var text: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }
    var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
    var elements: [RedisReply] { if case .array(let elements) = self { elements } else { [] } }
    var isNone: Bool { if case .none = self { true } else { false } }

    /// The elements as the fields and values of a hash.
    var hash: [String: Data] {
        var hash: [String: Data] = [:]
        let elements = elements
        for index in stride(from: 0, to: elements.count - 1, by: 2) {
            if let field = elements[index].text { hash[field] = elements[index + 1].bytes }
        }
        return hash
    }
}
