import Foundation

@objc public enum Mood: Int16 {
    case calm, glad
}
