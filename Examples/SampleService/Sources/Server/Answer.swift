internal import Foundation

/// An answer before it becomes HTTP.
struct Answer: Sendable {
    var status: Int
    var body: Data
    var entityTag: String?
    var headers: [String: String] = [:]

    init(status: Int, body: Data, entityTag: String? = nil) {
        self.status = status
        self.body = body
        self.entityTag = entityTag
    }

    static func json(_ value: JSON, status: Int = 200) -> Answer {
        Answer(status: status, body: value.data)
    }

    /// The same answer with a tag made from its bytes, so that a client can ask whether it changed.
    var tagged: Answer {
        // FNV-1a: the tag must be the same in every process, which Swift's own hashing is not.
        let hash = body.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
        return Answer(status: status, body: body, entityTag: "\"\(String(hash, radix: 16))\"")
    }

    /// Returns an error in Bandcamp's format.
    static func error(_ message: String, status: Int) -> Answer {
        .json(["error": true, "error_message": .string(message)], status: status)
    }

    /// Returns a short answer without a body if the client already has this one.
    func unlessUnchanged(since knownEntityTags: [String]) -> Answer {
        guard let entityTag, knownEntityTags.contains(entityTag) || knownEntityTags.contains("*") else { return self }
        return Answer(status: 304, body: Data(), entityTag: entityTag)
    }

    /// The first half of the body, as after a broken connection. Half of an object or an array is never valid JSON. It has no tag,
    /// because no client should revalidate this answer.
    var cutInHalf: Answer {
        Answer(status: status, body: body.prefix(body.count / 2))
    }
}
