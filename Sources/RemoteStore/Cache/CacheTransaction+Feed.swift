@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The position in the change feed of the backend.
extension CacheTransaction {
    /// The position that was reached; nil before the feed was read, and if the content of the file must be read again.
    func feedToken() throws -> ChangeToken? {
        guard let entity = file.entity(named: file.names.feed), let row = try rows(of: entity, limit: 1).first,
            let attribute = entity.inner.frozenParts.byName["token"] as? NSAttributeDescription,
            case .string(let text) = row.value(of: attribute)
        else { return nil }
        return ChangeToken(text)
    }

    /// Notes the position in the order of the backend's changes that the file has reached.
    ///
    /// - Parameter token: The position; nil if changes were skipped: the content of the file is then read again.
    func setFeedToken(_ token: ChangeToken?) throws {
        guard let entity = file.entity(named: file.names.feed) else { return }
        let known = try rows(of: entity, limit: 1).first
        if known == nil, token == nil { return }
        let row = try known.map { edit($0) } ?? insert(entity)
        try row.set(token.map { .string($0.text) } ?? .null, "token")
        try row.set(.double(now), "fetchedAt")
    }
}
