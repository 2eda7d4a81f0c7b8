import Foundation

extension ClassTest {
    /// Returns whether a value is of a class; unknown for nil.
    ///
    /// - Throws: ``InvalidPredicateError`` for a right side that is not a class.
    func callAsFunction(_ value: PropertyValue, _ wanted: PropertyValue, clause: String) throws -> Truth {
        guard case .object(let reference) = wanted, let wanted = reference.object as? ClassConstant else {
            throw InvalidPredicateError(
                kind: .unsupported, message: "\(rawValue) compares with a class, found \(wanted.typeName), in the clause \(clause)")
        }
        guard let type = value.predicateClass else { return .unknown }
        return Truth(accepts(type, wanted.type))
    }
}

extension PropertyValue {
    /// The class of the object that the value is for client code; nil for nil.
    fileprivate var predicateClass: AnyClass? {
        switch self {
        case .null: nil
        case .bool, .int64, .double: NSNumber.self
        case .decimal: NSDecimalNumber.self
        case .string: NSString.self
        case .date: NSDate.self
        case .data: NSData.self
        case .uuid: NSUUID.self
        case .url: NSURL.self
        case .array: NSArray.self
        case .set: NSSet.self
        case .object(let reference):
            switch reference.object {
            case let object as any ClassStandIn: object.predicateClass
            case is KeyedValues: NSDictionary.self
            case let object: Swift.type(of: object)
            }
        }
    }
}
