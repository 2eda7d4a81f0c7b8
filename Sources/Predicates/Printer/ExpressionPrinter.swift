import Foundation

extension ExpressionTree: CustomStringConvertible {
    /// The expression in the format language.
    public var description: String {
        var text = ""
        write(to: &text)
        return text
    }

    /// Writes the expression. The cases with parts have separate functions, so that a level of nesting needs little stack.
    func write(to text: inout String) {
        WorkCount.step()
        switch self {
        case .constant(let value), .numberedConstant(let value, _): value.writeLiteral(to: &text)
        case .evaluatedObject: text += "SELF"
        case .anyKey: text += "ANYKEY"
        case .variable(let name):
            text += "$"
            text += name
        case .keyPath(let keys): ExpressionTree.write(keys: keys, isFirst: true, to: &text)
        case .navigation(let base, let keys): ExpressionTree.write(base, keys, to: &text)
        case .aggregate(let elements): ExpressionTree.write("{", elements, "}", to: &text)
        case .arithmetic(let operation, let left, let right): ExpressionTree.write(left, operation.rawValue, right, to: &text)
        case .setOperation(let operation, let left, let right): ExpressionTree.write(left, operation.rawValue, right, to: &text)
        case .negated(let operand):
            text += "-"
            operand.write(inParentheses: operand.isNoBase, to: &text)
        case .complement(let operand):
            text += "~"
            operand.write(inParentheses: operand.isNoBase, to: &text)
        case .function(let name, let arguments): ExpressionTree.write(name + "(", arguments, ")", to: &text)
        case .method(let operand, let name, let arguments):
            ExpressionTree.write("FUNCTION(", [operand, .constant(.string(name))] + arguments, ")", to: &text)
        case .element(let collection, let index): ExpressionTree.write(collection, index, to: &text)
        case .subquery(let collection, let variable, let condition): ExpressionTree.write(collection, variable, condition, to: &text)
        case .conditional(let condition, let value, let otherwise):
            ExpressionTree.write(condition, value, otherwise, to: &text)
        case .cast(let value, let type): ExpressionTree.write("CAST(", [value, .constant(.string(type))], ")", to: &text)
        case .assignment(let name, let value):
            text += "$\(name) := "
            value.write(to: &text)
        case .fetch(let request, let context, let countOnly):
            ExpressionTree.write("FETCH(", [request, context, .constant(.bool(countOnly))], ")", to: &text)
        case .block(_, let arguments): ExpressionTree.write("BLOCKEXPRESSION(", arguments, ")", to: &text)
        }
    }

    private static func write(_ opening: String, _ parts: [ExpressionTree], _ closing: String, to text: inout String) {
        text += opening
        for (index, part) in parts.enumerated() {
            if index > 0 { text += ", " }
            part.write(to: &text)
        }
        text += closing
    }

    private static func write(keys: [String], isFirst: Bool, to text: inout String) {
        WorkCount.step(keys.count)
        for (index, key) in keys.enumerated() {
            if index > 0 { text += "." }
            if index == 0, isFirst, PredicateKeywords.reserved.contains(key.uppercased()) { text += "#" }
            text += key
        }
    }

    private static func write(_ base: ExpressionTree, _ keys: [String], to text: inout String) {
        base.write(inParentheses: base.isNoBase, to: &text)
        text += "."
        write(keys: keys, isFirst: false, to: &text)
    }

    private static func write(_ left: ExpressionTree, _ operation: String, _ right: ExpressionTree, to text: inout String) {
        left.write(inParentheses: left.isNoOperand, to: &text)
        text += " \(operation) "
        right.write(inParentheses: right.isNoOperand, to: &text)
    }

    private static func write(_ collection: ExpressionTree, _ index: ElementIndex, to text: inout String) {
        collection.write(inParentheses: collection.isNoBase, to: &text)
        text += "["
        index.write(to: &text)
        text += "]"
    }

    private static func write(_ collection: ExpressionTree, _ variable: String, _ condition: PredicateTree, to text: inout String) {
        text += "SUBQUERY("
        collection.write(to: &text)
        text += ", $\(variable), "
        condition.write(to: &text)
        text += ")"
    }

    private static func write(_ condition: PredicateTree, _ value: ExpressionTree, _ otherwise: ExpressionTree, to text: inout String) {
        text += "TERNARY("
        condition.write(to: &text)
        text += ", "
        value.write(to: &text)
        text += ", "
        otherwise.write(to: &text)
        text += ")"
    }

    private func write(inParentheses: Bool, to text: inout String) {
        if inParentheses { text += "(" }
        write(to: &text)
        if inParentheses { text += ")" }
    }

    /// Writes the expression as a side of a comparison, which binds less than any operator except an assignment.
    func writeSide(to text: inout String) {
        if case .assignment = self { write(inParentheses: true, to: &text) } else { write(to: &text) }
    }

    /// Whether the expression needs parentheses next to an operator, because it contains one.
    private var isNoOperand: Bool {
        switch self {
        case .arithmetic, .setOperation, .assignment: true
        default: false
        }
    }

    /// Whether the expression needs parentheses before a dot or bracket, or after a sign.
    private var isNoBase: Bool {
        switch self {
        case .arithmetic, .setOperation, .assignment, .negated, .complement: true
        case .constant(.int64), .constant(.double), .constant(.decimal): true
        case .numberedConstant(let value, _): ExpressionTree.constant(value).isNoBase
        default: false
        }
    }
}

extension ExpressionTree.ElementIndex: CustomStringConvertible {
    /// The index in the form between the brackets.
    public var description: String {
        var text = ""
        write(to: &text)
        return text
    }

    func write(to text: inout String) {
        switch self {
        case .at(let index): index.write(to: &text)
        case .first: text += "FIRST"
        case .last: text += "LAST"
        case .size: text += "SIZE"
        }
    }
}

extension PropertyValue {
    /// The value in the format language. A value without a literal is a cast of one.
    public var literal: String {
        var text = ""
        writeLiteral(to: &text)
        return text
    }

    func writeLiteral(to text: inout String) {
        WorkCount.step()
        switch self {
        case .array(let values):
            text += "{"
            for (index, value) in values.enumerated() {
                if index > 0 { text += ", " }
                value.writeLiteral(to: &text)
            }
            text += "}"
        default: text += literalOfScalar
        }
    }

    private var literalOfScalar: String {
        switch self {
        case .null: "nil"
        case .bool(let value): value ? "TRUE" : "FALSE"
        case .int64(let value): value.description
        case .double(let value) where value.isFinite: value.description
        case .double(let value): "CAST(\(value.description.quoted()), \"double\")"
        case .decimal(let value): "CAST(\(value.description.quoted()), \"NSDecimalNumber\")"
        case .string(let value): value.quoted()
        case .date(let value): "CAST(\(value.timeIntervalSinceReferenceDate), \"NSDate\")"
        case .data(let value): "CAST(\(value.base64EncodedString().quoted()), \"NSData\")"
        case .uuid(let value): "CAST(\(value.uuidString.quoted()), \"NSUUID\")"
        case .url(let value): "CAST(\(value.absoluteString.quoted()), \"NSURL\")"
        case .object(let reference): PropertyValue.describe(reference.object)
        case .array: ""
        case .set(let values): "{" + values.map(\.literal).sorted().joined(separator: ", ") + "}"
        }
    }

    private static func describe(_ object: AnyObject) -> String {
        if let values = object as? KeyedValues { return String(describing: values.values) }
        return String(describing: object)
    }

    /// Returns the constant that a cast of this constant to a class denotes, if the printer writes it as such a cast.
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
}
