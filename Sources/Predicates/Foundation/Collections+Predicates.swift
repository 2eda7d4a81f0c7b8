public import Foundation

extension Sequence {
    /// The elements that a predicate matches: dictionaries, objects, structures, text or numbers.
    ///
    /// Stops the program when the predicate cannot be evaluated with such elements, as the uncaught exception does on Apple's platforms;
    /// ``filtered(matching:)`` throws instead.
    ///
    /// - Parameter predicate: The predicate.
    /// - Returns: The matching elements, in their order.
    public func filtered(using predicate: NSPredicate) -> [Element] {
        do {
            return try filtered(matching: predicate)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// The elements that a predicate matches, or an error.
    ///
    /// - Parameter predicate: The predicate.
    /// - Returns: The matching elements, in their order.
    /// - Throws: ``InvalidPredicateError``.
    public func filtered(matching predicate: NSPredicate) throws -> [Element] {
        let compiled = try predicate.compiled(for: PlainSchema.shared, logic: .twoValued)
        return try filter { try compiled.matches(plain: $0) }
    }

    /// The elements in the order of sort descriptors; elements that compare as equal keep their order.
    ///
    /// - Parameter descriptors: The descriptors, the most important first.
    /// - Returns: The sorted elements.
    /// - Throws: ``InvalidPredicateError`` when an element has no such key.
    public func sorted(using descriptors: [NSSortDescriptor]) throws -> [Element] {
        let elements = Array(self)
        let boxes = try elements.map { PlainValue(original: $0, value: try PropertyValue(plain: $0)) }
        let order = try CompiledSort(descriptors, for: PlainSchema.shared).sortedIndices(count: boxes.count) { boxes[$0].subject }
        return withExtendedLifetime(boxes) { order.map { elements[$0] } }
    }
}

extension NSPredicate {
    /// Answers whether the predicate matches a plain value, a dictionary or an object, or throws where `evaluate(with:)` stops the program.
    ///
    /// - Parameters:
    ///   - value: The value that `SELF` stands for.
    ///   - variables: The values of the variables, by name.
    /// - Returns: Whether it matches.
    /// - Throws: ``InvalidPredicateError``.
    public func matches(_ value: Any?, variables: [String: Any]? = nil) throws -> Bool {
        if let predicate = self as? any EvaluatedPredicate { return try predicate.evaluator.answer(value, variables: variables) }
        guard let variables, !variables.isEmpty else {
            return try compiled(for: PlainSchema.shared, logic: .twoValued).matches(plain: value)
        }
        let substituted = try tree().substituting(NSPredicate.expressions(variables))
        return try substituted.compiled(for: PlainSchema.shared, logic: .twoValued).matches(plain: value)
    }
}
