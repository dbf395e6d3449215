// SPDX-License-Identifier: Apache-2.0
//! From the three heads of ../signs to boxes in the frame.
pub const CLASSES: [&str; 8] = ["circle", "triangle", "square", "pentagon", "star", "cross", "heart", "arrow"];
const ANCHORS: [[f32; 3]; 3] = [[16.0, 24.0, 34.0], [48.0, 66.0, 90.0], [120.0, 156.0, 204.0]];
const SCORE: f32 = 0.4;
const OVERLAP: f32 = 0.45;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    pub left: f32,
    pub top: f32,
    pub right: f32,
    pub bottom: f32,
    pub score: f32,
    pub class: usize,
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

fn overlap(a: &Found, b: &Found) -> f32 {
    let w = (a.right.min(b.right) - a.left.max(b.left)).max(0.0);
    let h = (a.bottom.min(b.bottom) - a.top.max(b.top)).max(0.0);
    let either = (a.right - a.left) * (a.bottom - a.top) + (b.right - b.left) * (b.bottom - b.top) - w * h;
    if either > 0.0 {
        w * h / either
    } else {
        0.0
    }
}

/// Best first. `side` is that of the network's input.
pub fn decode(heads: [&[f32]; 3], side: usize) -> Result<Vec<Found>, String> {
    let channels = 5 + CLASSES.len();
    let mut all = Vec::new();
    for (k, head) in heads.iter().enumerate() {
        let stride = 8 << k;
        let cells = side / stride;
        let plane = cells * cells;
        if head.len() != 3 * channels * plane {
            return Err(format!("head {} has {} values, expected {}; is this the signs model?", k, head.len(), 3 * channels * plane));
        }
        for (a, anchor) in ANCHORS[k].iter().enumerate() {
            for cell in 0..plane {
                let value = |c: usize| head[(a * channels + c) * plane + cell];
                let object = sigmoid(value(4));
                if object <= SCORE {
                    continue;
                }
                let class = (0..CLASSES.len()).fold(0, |best, c| if value(5 + c) > value(5 + best) { c } else { best });
                let score = object * sigmoid(value(5 + class));
                if score <= SCORE {
                    continue;
                }
                let x = (2.0 * sigmoid(value(0)) - 0.5 + (cell % cells) as f32) * stride as f32;
                let y = (2.0 * sigmoid(value(1)) - 0.5 + (cell / cells) as f32) * stride as f32;
                let w = (2.0 * sigmoid(value(2))).powi(2) * anchor / 2.0;
                let h = (2.0 * sigmoid(value(3))).powi(2) * anchor / 2.0;
                all.push(Found { left: x - w, top: y - h, right: x + w, bottom: y + h, score, class });
            }
        }
    }
    all.sort_by(|a: &Found, b: &Found| b.score.total_cmp(&a.score));
    let mut kept: Vec<Found> = Vec::new();
    for candidate in all {
        if !kept.iter().any(|better| better.class == candidate.class && overlap(better, &candidate) > OVERLAP) {
            kept.push(candidate);
        }
    }
    Ok(kept)
}

/// From the letterbox back to the frame.
pub fn in_frame(found: &Found, x_pad: usize, y_pad: usize, scale: f32, width: usize, height: usize) -> Found {
    let back = |at: f32, pad: usize, most: usize| ((at - pad as f32) / scale).clamp(0.0, most as f32);
    Found {
        left: back(found.left, x_pad, width),
        right: back(found.right, x_pad, width),
        top: back(found.top, y_pad, height),
        bottom: back(found.bottom, y_pad, height),
        ..*found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_cell_becomes_one_box() {
        // Side 32: heads of 4, 2 and 1 cells. Logits of 0 are sigmoids of 0.5: the middle of the cell, the anchor's own size.
        let (small, middle) = (vec![-20.0; 39 * 16], vec![-20.0; 39 * 4]);
        let mut large = vec![-20.0; 39];
        for c in 0..4 {
            large[13 + c] = 0.0;
        }
        large[13 + 4] = 20.0;
        large[13 + 5 + 2] = 20.0;
        let found = decode([&small, &middle, &large], 32).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(CLASSES[found[0].class], "square");
        assert!((found[0].left - (16.0 - 78.0)).abs() < 1e-4 && (found[0].right - (16.0 + 78.0)).abs() < 1e-4);
        assert!((found[0].score - 1.0).abs() < 1e-5);
    }

    #[test]
    fn heads_of_another_network_are_refused() {
        assert!(decode([&[0.0], &[0.0], &[0.0]], 32).unwrap_err().contains("expected 624"));
    }
}
