internal import Foundation

/// An element of an XML document: its name, its attributes in order, and its content.
package struct XMLElement: Hashable, Sendable {
    package typealias Attribute = XMLAttribute

    package let name: String
    package var attributes: [Attribute] = []
    package var children: [XMLElement] = []
    /// The text between the tags of the element itself.
    var text = ""
    /// The line of the file on which the element begins; 0 for an element to be written.
    package var line = 0

    package init(name: String, attributes: [Attribute] = [], children: [XMLElement] = [], text: String = "", line: Int = 0) {
        self.name = name
        self.attributes = attributes
        self.children = children
        self.text = text
        self.line = line
    }

    /// Returns the value of the attribute called `name`.
    package subscript(name: String) -> String? { attributes.first { $0.name == name }?.value }

    // Elements with equal content are equal, regardless of their line.
    package static func == (left: XMLElement, right: XMLElement) -> Bool {
        left.name == right.name && left.attributes == right.attributes && left.children == right.children && left.text == right.text
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(attributes)
    }
}

extension XMLElement {
    /// The document with this element as its root, indented like Xcode's.
    package var document: String {
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
        write(to: &text, indentation: "")
        text.removeLast()
        return text
    }

    private func write(to output: inout String, indentation: String) {
        output += "\(indentation)<\(name)"
        for attribute in attributes { output += " \(attribute.name)=\"\(XMLElement.escaped(attribute.value))\"" }
        if children.isEmpty, text.isEmpty {
            output += "/>\n"
        } else if children.isEmpty {
            output += ">\(XMLElement.escaped(text))</\(name)>\n"
        } else {
            output += ">\(XMLElement.escaped(text))\n"
            for child in children { child.write(to: &output, indentation: indentation + "    ") }
            output += "\(indentation)</\(name)>\n"
        }
    }

    private static func escaped(_ value: String) -> String {
        var result = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            // A reader would convert them to spaces.
            case "\n", "\r", "\t": result += "&#\(scalar.value);"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
