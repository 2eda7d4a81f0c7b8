import Foundation

extension ExpressionTree: CustomStringConvertible {
    /// The expression as it is written in a format string.
    public var description: String {
        switch self {
        case .constant(let value): value.literal
        case .evaluatedObject: "SELF"
        case .variable(let name): "$" + name
        case .keyPath(let keys): ExpressionTree.dotted(keys, isFirst: true)
        case .navigation(let base, let keys): "\(base.asBase).\(ExpressionTree.dotted(keys, isFirst: false))"
        case .aggregate(let elements): "{" + ExpressionTree.list(elements) + "}"
        case .arithmetic(let operation, let left, let right): "\(left.asOperand) \(operation.rawValue) \(right.asOperand)"
        case .negated(let operand): "-\(operand.asBase)"
        case .complement(let operand): "~\(operand.asBase)"
        case .function(let name, let arguments): "\(name)(\(ExpressionTree.list(arguments)))"
        case .method(let operand, let name, let arguments):
            "FUNCTION(" + ExpressionTree.list([operand, .constant(.string(name))] + arguments) + ")"
        case .element(let collection, let index): "\(collection.asBase)[\(index.description)]"
        case .subquery(let collection, let variable, let condition): "SUBQUERY(\(collection), $\(variable), \(condition))"
        case .setOperation(let operation, let left, let right): "\(left.asOperand) \(operation.rawValue) \(right.asOperand)"
        case .conditional(let condition, let value, let otherwise): "TERNARY(\(condition), \(value), \(otherwise))"
        case .cast(let value, let type): "CAST(\(value), \(PropertyValue.quoted(type)))"
        case .assignment(let name, let value): "$\(name) := \(value)"
        }
    }

    private static func list(_ elements: [ExpressionTree]) -> String {
        elements.map(\.description).joined(separator: ", ")
    }

    private static func dotted(_ keys: [String], isFirst: Bool) -> String {
        keys.enumerated().map { index, key in
            index == 0 && isFirst && PredicateKeywords.reserved.contains(key.uppercased()) ? "#" + key : key
        }.joined(separator: ".")
    }

    /// The expression as a side of a comparison, which binds less than any operator but an assignment.
    var asSide: String {
        if case .assignment = self { return "(\(description))" }
        return description
    }

    /// The expression as a side of an operator: in parentheses when it has an operator of its own.
    private var asOperand: String {
        switch self {
        case .arithmetic, .setOperation, .assignment: "(\(description))"
        default: description
        }
    }

    /// The expression before a dot, a bracket or behind a sign.
    private var asBase: String {
        switch self {
        case .arithmetic, .setOperation, .assignment, .negated, .complement: "(\(description))"
        case .constant(.int64), .constant(.double), .constant(.decimal): "(\(description))"
        default: description
        }
    }
}

extension ExpressionTree.ElementIndex: CustomStringConvertible {
    /// The index as it stands between the brackets.
    public var description: String {
        switch self {
        case .at(let index): index.description
        case .first: "FIRST"
        case .last: "LAST"
        case .size: "SIZE"
        }
    }
}

extension PropertyValue {
    /// The value as it is written in a format string. What has no literal of its own is a cast from one.
    public var literal: String {
        switch self {
        case .null: "nil"
        case .bool(let value): value ? "TRUE" : "FALSE"
        case .int64(let value): value.description
        case .double(let value) where value.isFinite: value.description
        case .double(let value): "CAST(\(PropertyValue.quoted(value.description)), \"double\")"
        case .decimal(let value): "CAST(\(PropertyValue.quoted(value.description)), \"NSDecimalNumber\")"
        case .string(let value): PropertyValue.quoted(value)
        case .date(let value): "CAST(\(value.timeIntervalSinceReferenceDate), \"NSDate\")"
        case .data(let value): "CAST(\(PropertyValue.quoted(value.base64EncodedString())), \"NSData\")"
        case .uuid(let value): "CAST(\(PropertyValue.quoted(value.uuidString)), \"NSUUID\")"
        case .url(let value): "CAST(\(PropertyValue.quoted(value.absoluteString)), \"NSURL\")"
        case .object(let reference): PropertyValue.describe(reference.object)
        case .array(let values): "{" + values.map(\.literal).joined(separator: ", ") + "}"
        case .set(let values): "{" + values.map(\.literal).sorted().joined(separator: ", ") + "}"
        }
    }

    private static func describe(_ object: AnyObject) -> String {
        if let values = object as? KeyedValues { return String(describing: values.values) }
        return String(describing: object)
    }

    /// The constant that a cast of this constant to a class means, when that is how the printer writes such a constant.
    func literal(ofClass name: String) -> PropertyValue? {
        switch (name, self) {
        case ("NSDate", .double(let seconds)): return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case ("NSDate", .int64(let seconds)): return .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
        case ("double", .string(let text)): return Double(text).map(PropertyValue.double)
        case ("NSDecimalNumber", .string(let text)): return Decimal(string: text).map(PropertyValue.decimal)
        case ("NSData", .string(let text)): return Data(base64Encoded: text).map(PropertyValue.data)
        case ("NSUUID", .string(let text)): return UUID(uuidString: text).map(PropertyValue.uuid)
        case ("NSURL", .string(let text)): return URL(string: text).map(PropertyValue.url)
        default: return nil
        }
    }

    /// A string in quotation marks, with everything escaped that would end or change it.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case "\r": result += "\\r"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
