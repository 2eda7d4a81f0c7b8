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

    var isKeyPath: Bool {
        if case .keyPath = self { return true }
        return false
    }
}
