extension ExpressionTree {
    /// Returns the key path that continues this expression.
    func appending(_ keys: [String]) -> ExpressionTree {
        switch self {
        case .evaluatedObject: .keyPath(keys)
        case .keyPath(let before): .keyPath(before + keys)
        case .navigation(let base, let before): .navigation(base, before + keys)
        default: .navigation(self, keys)
        }
    }

    /// The error of a key path that has too many keys.
    var pathError: InvalidPredicateError? {
        switch self {
        case .keyPath(let keys), .navigation(_, let keys): InvalidPredicateError.ofPath(with: keys.count)
        default: nil
        }
    }

    var isKeyPath: Bool {
        if case .keyPath = self { return true }
        return false
    }
}
