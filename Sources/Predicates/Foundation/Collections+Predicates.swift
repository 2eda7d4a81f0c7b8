public import Foundation

extension Sequence {
    /// Returns the elements that match a predicate: dictionaries, objects, structures, strings or numbers.
    ///
    /// Stops the program if the predicate cannot be evaluated with such elements; Apple's framework raises an exception. ``filtered(matching:)``
    /// throws instead.
    ///
    /// - Parameter predicate: The predicate.
    /// - Returns: The matching elements, in order.
    public func filtered(using predicate: NSPredicate) -> [Element] {
        do {
            return try filtered(matching: predicate)
        } catch {
            stopProgram("\(error)")
        }
    }

    /// Returns the elements that match a predicate, or throws.
    ///
    /// - Parameter predicate: The predicate.
    /// - Returns: The matching elements, in order.
    /// - Throws: ``InvalidPredicateError``.
    public func filtered(matching predicate: NSPredicate) throws -> [Element] {
        let compiled = try predicate.compiled(for: PlainSchema.shared, logic: .twoValued)
        return try filter { try compiled.matches(plain: $0) }
    }

    /// Returns the elements sorted by sort descriptors; the sort is stable.
    ///
    /// - Parameter descriptors: The descriptors, the most significant first.
    /// - Returns: The sorted elements.
    /// - Throws: ``InvalidPredicateError`` when an element does not have a key.
    public func sorted(using descriptors: [NSSortDescriptor]) throws -> [Element] {
        let elements = Array(self)
        let boxes = try elements.map { PlainValue(original: $0, value: try PropertyValue(plain: $0)) }
        let order = try CompiledSort(descriptors, for: PlainSchema.shared).sortedIndices(count: boxes.count) { boxes[$0].subject }
        return withExtendedLifetime(boxes) { order.map { elements[$0] } }
    }
}

extension NSPredicate {
    /// Returns whether the predicate matches a plain value, a dictionary or an object; throws if `evaluate(with:)` stops the program.
    ///
    /// - Parameters:
    ///   - value: The value of `SELF`.
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
