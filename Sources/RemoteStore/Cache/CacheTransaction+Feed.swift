@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// How far the change feed of the backend was followed.
extension CacheTransaction {
    /// The place that was reached; nil before the feed was followed, and where what the file holds is to be read anew.
    func feedToken() throws -> ChangeToken? {
        guard let entity = file.entity(named: file.names.feed), let row = try rows(of: entity, limit: 1).first,
            let attribute = entity.inner.frozenParts.byName["token"] as? NSAttributeDescription,
            case .string(let text) = row.value(of: attribute)
        else { return nil }
        return ChangeToken(text)
    }

    /// Notes the place in the order of the backend's changes that the file has reached.
    ///
    /// - Parameter token: The place; nil where something was passed over: what the file holds is then read anew.
    func setFeedToken(_ token: ChangeToken?) throws {
        guard let entity = file.entity(named: file.names.feed) else { return }
        let known = try rows(of: entity, limit: 1).first
        if known == nil, token == nil { return }
        let row = try known.map { edit($0) } ?? insert(entity)
        try row.set(token.map { .string($0.text) } ?? .null, "token")
        try row.set(.double(now), "fetchedAt")
    }
}
